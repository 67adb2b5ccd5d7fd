-- One row per run: every name it goes by, and its figures as published.
with fastest as (
    select
        run_id,
        arg_max(reported_mfu, coalesce(accelerators, 0)) filter (reported_mfu is not null) as mfu,
        arg_max(reported_mfu_basis, coalesce(accelerators, 0)) filter (reported_mfu is not null) as mfu_basis,
        arg_max(reported_hfu, coalesce(accelerators, 0)) filter (reported_hfu is not null) as hfu
    from record.phases
    group by run_id
)

select
    runs.id as run_id,
    list_distinct(
        [runs.name, models.name] || coalesce(runs.aliases, []) || coalesce(models.aliases, [])
    ) as names,
    coalesce(models.params_total, sqrt(models.params_total_low * models.params_total_high)) as parameters,
    models.params_active as parameters_active,
    coalesce(runs.tokens, sqrt(runs.tokens_low * runs.tokens_high)) as tokens,
    runs.tokens_low,
    runs.tokens_high,
    coalesce(runs.compute_flop, sqrt(runs.compute_flop_low * runs.compute_flop_high)) as compute,
    runs.compute_flop_low as compute_low,
    runs.compute_flop_high as compute_high,
    coalesce(
        summary.accelerators, sqrt(summary.accelerators_low * summary.accelerators_high)
    ) as accelerators,
    summary.accelerators_low,
    summary.accelerators_high,
    coalesce(24 * runs.days, runs.accelerator_hours / summary.accelerators) as hours,
    fastest.mfu as "MFU",
    fastest.mfu_basis,
    fastest.hfu as "HFU"
from record.runs as runs
join run_summary as summary on summary.run_id = runs.id
left join record.models as models on models.id = runs.model
left join fastest on fastest.run_id = runs.id
order by runs.id
