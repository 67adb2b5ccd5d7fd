-- Accelerators used by runs and held by clusters, dated; status says how each number is known.
select
    sizes.id,
    sizes.kind,
    sizes.name,
    sizes.organization,
    case when sizes.kind = 'cluster' then 'cluster' else coalesce(runs.sparsity, 'undisclosed') end as hue,
    sizes.date,
    sizes.date_precision as precision,
    sizes.accelerators,
    sizes.accelerators_low,
    sizes.accelerators_high,
    sizes.accelerator,
    sizes.status,
    sizes.power_mw
from cluster_sizes as sizes
left join run_summary as runs on sizes.kind = 'run' and sizes.id = runs.run_id
where sizes.date is not null and coalesce(sizes.accelerators, sizes.accelerators_low, sizes.accelerators_high) is not null
order by sizes.date, sizes.kind, sizes.id, sizes.accelerators
