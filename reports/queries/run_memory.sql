-- Modelled memory per accelerator by pipeline stage and part.
select run_id, phase, stage, part, value, low, high, unit
from result.memory
order by run_id, phase, stage
