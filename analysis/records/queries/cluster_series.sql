-- One row per run or cluster with a size: date, accelerators, status, its rank among its kind until then, and whether
-- it was the largest so far.
with valued as (
    select
        id,
        kind,
        name,
        date,
        status,
        coalesce(accelerators, sqrt(accelerators_low * accelerators_high)) as value
    from cluster_sizes
    where date is not null
)

select
    *,
    (
        select count(*)
        from valued as others
        where others.kind = valued.kind and others.date <= valued.date and others.value > valued.value
    ) + 1 as rank_at_date,
    value >= max(value) over (partition by kind order by date range unbounded preceding) as is_record
from valued
where value is not null
order by date, kind, id
