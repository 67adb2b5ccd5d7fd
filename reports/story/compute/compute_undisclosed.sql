-- Runs for which neither a figure nor the numbers to compute one are published.
select run_id, name, organization, released, released_precision as precision
from run_summary
where coalesce(compute_flop, compute_flop_low, compute_flop_high) is null and released is not null
order by released, run_id
