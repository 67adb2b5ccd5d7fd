-- Frontier releases that publish neither a compute figure nor the numbers to compute one: models of a hundred billion
-- parameters or more, or of a size that is not published either.
select run_id, name, organization, released, released_precision as precision
from run_summary
where coalesce(compute_flop, compute_flop_low, compute_flop_high) is null
    and released is not null
    and purpose in ('pretraining', 'estimate')
    and coalesce(params_total, 1e12) >= 1e11
order by released, run_id
