-- Modelled memory per accelerator by pipeline stage, small parts put together; what was assumed for it.
select
    run_id,
    phase,
    stage,
    case
        when part in ('master_weights', 'moments') then 'optimizer'
        when part in ('working', 'head') then 'working'
        when part in ('context', 'allocator') then 'overhead'
        else part
    end as part,
    sum(value) as value,
    any_value(unit) as unit,
    any_value(assumed) as assumed
from result.memory
group by all
order by run_id, phase, stage, part
