-- Growth per year of clusters and compute: ours beside what others published.
with ours as (
    select
        trend_id as id,
        'ours' as whose,
        case when trend_id like 'cluster%' then 'cluster-size' else 'training-compute' end as quantity,
        trend_id as name,
        null as organization,
        value as growth,
        low,
        high,
        window_from,
        window_to,
        n
    from result.trends
    where statistic = 'growth_per_year'
        and trend_id in ('cluster-size-runs', 'cluster-size-built', 'compute-frontier', 'compute-frontier-disclosed')
),

published as (
    select
        id,
        'published' as whose,
        quantity,
        name,
        organization,
        coalesce(growth_per_year, sqrt(growth_per_year_low * growth_per_year_high)) as growth,
        growth_per_year_low as low,
        growth_per_year_high as high,
        cast("from" as varchar) as window_from,
        cast("to" as varchar) as window_to,
        null as n
    from record.trends
    where quantity in ('cluster-size', 'training-compute')
)

select * from ours where growth is not null
union all
select * from published where growth is not null
order by quantity, whose, id
