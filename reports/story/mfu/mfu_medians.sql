-- Median and quartiles of each group under each convention; a run with several set-ups counts once, by its
-- median; outliers are left out.
with long as (
    select run_id, sparsity, architecture, convention, mfu, outlier
    from mfu_comparable
    unpivot (mfu for convention in (
        mfu_6nd as '6nd', mfu_causal as 'causal', mfu_model_flops as 'model-flops', mfu_reported as 'as-reported'
    ))
),

runs as (
    select run_id, sparsity, architecture, convention, median(mfu) as mfu
    from long
    where sparsity in ('dense', 'moe') and not outlier
    group by all
),

grouped as (
    select convention, 'all' as architecture, sparsity, run_id, median(mfu) as mfu from runs group by all
    union all
    select convention, architecture, sparsity, run_id, mfu from runs
)

select
    convention,
    architecture,
    sparsity,
    count(*) as n,
    median(mfu) as median,
    quantile_cont(mfu, 0.25) as q25,
    quantile_cont(mfu, 0.75) as q75
from grouped
where architecture is not null
group by convention, architecture, sparsity
order by architecture <> 'all', architecture, convention, sparsity
