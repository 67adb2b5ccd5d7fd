-- Runs by accelerator
select
    coalesce(accelerators.name, 'not stated') as accelerator,
    count(distinct phases.run_id) as runs,
    count(*) as phases,
    max(coalesce(phases.accelerators, phases.accelerators_high, phases.accelerators_low)) as "largest phase"
from record.phases as phases
left join record.accelerators as accelerators on accelerators.id = phases.accelerator
group by all
order by runs desc, accelerator
