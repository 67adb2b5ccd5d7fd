-- Modelled communication per optimizer step and dimension, and what was assumed for it.
select run_id, phase, dimension, bytes_per_step, scale_out_bytes_per_step, placement, seconds, exposed_s, assumed
from result.communication
order by run_id, phase, list_position(['tp', 'ep', 'cp', 'pp', 'dp'], dimension)
