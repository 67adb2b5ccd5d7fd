-- Phases in order, with the accelerator's own figures.
select phases.*, accelerators.name as accelerator_name
from phase_summary as phases
left join record.accelerators as accelerators on phases.accelerator = accelerators.id
order by phases.run_id, phases.position
