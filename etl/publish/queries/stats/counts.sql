-- What the record holds
with layouts as (
    select distinct run_id from record.phases where coalesce(tp, cp, pp, dp, ep) is not null or fsdp or zero_stage > 0
),

hardware as (
    select distinct run_id from record.phases where accelerator is not null
),

facts as (
    select
        runs.id,
        runs.purpose,
        models.sparsity,
        runs.id in (select id from pretraining_runs) as is_pretraining,
        runs.id in (select run_id from layouts) as has_layout,
        coalesce(runs.tokens, runs.tokens_low, runs.tokens_high) is not null
            and runs.id in (select run_id from hardware) as has_tokens_and_hardware
    from record.runs as runs
    left join record.models as models on models.id = runs.model
)

select unnest([
    {'what': 'training runs', 'number': count(*)},
    {'what': '- of pretraining, estimates included', 'number': count_if(is_pretraining)},
    {'what': '- of post-training (SFT, RL, distillation)', 'number': count_if(not is_pretraining)},
    {'what': '- dense', 'number': count_if(sparsity = 'dense')},
    {'what': '- mixture of experts', 'number': count_if(sparsity = 'moe')},
    {'what': '- with a parallel layout', 'number': count_if(has_layout)},
    {'what': '- with tokens and hardware', 'number': count_if(has_tokens_and_hardware)},
    {'what': '- estimates of undisclosed runs', 'number': count_if(purpose = 'estimate')},
    {'what': 'phases of runs', 'number': (select count(*) from record.phases)},
    {'what': 'models', 'number': (select count(*) from record.models)},
    {'what': 'accelerators', 'number': (select count(*) from record.accelerators)},
    {'what': 'systems', 'number': (select count(*) from record.systems)},
    {'what': 'organizations', 'number': (select count(*) from record.organizations)},
    {'what': '- countries', 'number': (select count(distinct country) from record.organizations)},
    {'what': 'published tables of measurements', 'number': (select count(*) from record.benchmarks)},
    {'what': '- measured rows', 'number': (select count(*) from record.benchmark_rows)},
    {'what': 'clusters', 'number': (select count(*) from record.clusters)},
    {'what': '- dated sizes', 'number': (select count(*) from record.cluster_points)},
    {'what': 'growth rates of others', 'number': (select count(*) from record.trends)},
    {'what': 'claims', 'number': (select count(*) from record.claims)},
    {'what': 'documents cited', 'number': (select count(distinct url) from record.sources)},
    {'what': 'values with a citation of their own', 'number': (select count(value) from record.citations)}
], recursive := true)
from facts
