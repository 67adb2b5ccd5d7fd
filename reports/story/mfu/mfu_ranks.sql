-- How many runs change their rank when the convention changes (runs that have both).
with pairs as (
    select run_id, phase, mfu_6nd as base, other.convention, other.mfu
    from mfu_comparable
    cross join lateral (values ('causal', mfu_causal), ('model-flops', mfu_model_flops), ('as-reported', mfu_reported))
        as other (convention, mfu)
    where mfu_6nd is not null and other.mfu is not null
),

ranked as (
    select
        convention,
        rank() over (partition by convention order by round(base, 4) desc) as rank_before,
        rank() over (partition by convention order by round(mfu, 4) desc) as rank_after
    from pairs
)

select convention, count(*) as n, count(*) filter (rank_before <> rank_after) as moved
from ranked
group by convention
order by convention
