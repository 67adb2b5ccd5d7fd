-- The layout of each run that can be drawn: its largest phase at the shorter context whose stages share the
-- accelerators evenly and whose stated degrees do not contradict the accelerators.
select
    map.run_id,
    map.name,
    map.phase,
    map.sparsity,
    map.accelerators,
    map.tp,
    map.cp,
    map.pp,
    map.dp,
    map.ep,
    phases.etp,
    map.scale_up_domain as domain,
    exists(
        from record.citations as cited
        where cited.kind = 'run' and cited.record_id = map.run_id and cited.block = 'phases.' || map.phase
            and cited.basis = 'derived' and cited.field in ('tp', 'cp', 'pp', 'dp', 'ep')
    ) as derived
from layout_map as map
join record.phases as phases on map.run_id = phases.run_id and map.phase = phases.name
where map.pp is not null and map.accelerators % map.pp = 0 and map.product_matches is distinct from false
qualify row_number() over (
    partition by map.run_id order by map.accelerators desc, phases.seq_len, phases.position
) = 1
order by map.run_id
