-- Modelled seconds per step by part.
select run_id, phase, part, value, low, high, unit
from result.timing
order by run_id, phase, value desc, part
