-- Modelled memory per accelerator by pipeline stage, small parts put together; what was assumed for it.
select run_id, phase, stage, part, value, unit, assumed
from memory_groups
order by run_id, phase, stage, part
