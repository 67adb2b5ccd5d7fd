-- One row per pretraining run with a compute figure: date, value (a range without a centre takes its geometric mean),
-- whether its makers or arithmetic on their numbers give it, and its rank by compute among the runs released until then.
with valued as (
    select
        run_id,
        name,
        released,
        status,
        coalesce(compute_flop, sqrt(compute_flop_low * compute_flop_high)) as value
    from frontier_compute
    where released is not null
)

select
    valued.*,
    status in ('reported', 'computed') as disclosed,
    (
        select count(*)
        from valued as others
        where others.released <= valued.released and others.value > valued.value
    ) + 1 as rank_at_release
from valued
where value is not null
order by released, run_id
