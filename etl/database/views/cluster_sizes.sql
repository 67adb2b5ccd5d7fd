-- One row per run (its largest phase, dated by release) or dated point of a cluster.
with cited as (
    select record_id as run_id, block, any_value(basis) as basis
    from record.citations
    where kind = 'run' and field = 'accelerators'
    group by all
),

of_runs as (
    select
        summary.run_id as id,
        'run' as kind,
        summary.name,
        summary.organization,
        summary.released as date,
        summary.released_precision as date_precision,
        summary.accelerators,
        summary.accelerators_low,
        summary.accelerators_high,
        summary.accelerator,
        case when summary.purpose = 'estimate' or cited.basis = 'estimated' then 'estimated' else 'reported' end as status,
        null as power_mw,
        null as power_it_mw,
        null as h100_equivalents,
        null::date as stated,
        summary.country
    from run_summary as summary
    left join cited on cited.run_id = summary.run_id and cited.block = 'phases.' || summary.phase
    where coalesce(summary.accelerators, summary.accelerators_low, summary.accelerators_high) is not null
        and summary.run_id in (select id from pretraining_runs)
),

of_clusters as (
    select
        clusters.id,
        'cluster' as kind,
        clusters.name,
        clusters.organization,
        points.date,
        points.date_precision,
        points.accelerators,
        points.accelerators_low,
        points.accelerators_high,
        points.accelerator,
        points.status,
        points.power_mw,
        points.power_it_mw,
        points.h100_equivalents,
        points.stated,
        clusters.country
    from record.cluster_points as points
    join record.clusters as clusters on clusters.id = points.cluster_id
)

select * from of_runs
union all
select * from of_clusters
order by date, kind, id
