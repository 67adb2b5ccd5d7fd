-- One row per pretraining run with a compute figure or range; is_record: no run released until then has more.
with candidates as (
    select
        run_id, name, organization, sparsity, released,
        compute_flop, compute_flop_low, compute_flop_high, compute_status as status
    from run_summary
    where purpose in ('pretraining', 'estimate')
        and coalesce(compute_flop, compute_flop_low, compute_flop_high) is not null
)

select
    *,
    coalesce(compute_flop >= max(compute_flop) over (order by released range unbounded preceding), false) as is_record
from candidates
order by released, run_id
