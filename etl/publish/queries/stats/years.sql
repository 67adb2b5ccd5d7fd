-- Runs by year of release
with layouts as (
    select distinct run_id from record.phases where coalesce(tp, cp, pp, dp, ep) is not null or fsdp or zero_stage > 0
)

select
    coalesce(year(runs.released)::varchar, 'unknown') as year,
    count(*) as runs,
    count_if(models.sparsity = 'dense') as dense,
    count_if(models.sparsity = 'moe') as "mixture of experts",
    count_if(runs.id in (select run_id from layouts)) as "with layout",
    count_if(runs.purpose = 'estimate') as estimates,
    count_if(runs.id not in (select id from pretraining_runs)) as "post-training"
from record.runs as runs
left join record.models as models on models.id = runs.model
group by all
order by year
