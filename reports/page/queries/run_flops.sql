-- FLOP per token, compute and implied utilisation by convention.
select run_id, phase, convention, flop_per_token, total_flop, implied_mfu, implied_from
from result.flops
order by run_id, phase nulls first, list_position(['6nd', 'causal', 'model-flops', 'hardware-flops'], convention)
