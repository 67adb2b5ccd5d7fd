-- One row per phase, pipeline stage and group of memory as pictures show it: small parts of the model put together.
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
