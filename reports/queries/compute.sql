-- Training compute of every dated run that has a figure, and whether it was the largest when released.
select
    run_id,
    name,
    organization,
    coalesce(sparsity, 'undisclosed') as hue,
    released,
    compute_flop,
    compute_flop_low,
    compute_flop_high,
    status,
    is_record
from frontier_compute
where released is not null and coalesce(compute_flop, compute_flop_low, compute_flop_high) is not null
order by released, run_id
