-- Degrees of every published layout; expert parallelism lies inside data parallelism and is not a factor. `derived`
-- lists the degrees that we worked out from the others: a product made with one of them proves nothing. A product of
-- three printed degrees that gives the accelerators leaves 1 for the fourth.
with derived as (
    select record_id as run_id, substr(block, 8) as phase, list(field order by field) as fields
    from record.citations
    where kind = 'run' and block like 'phases.%' and basis = 'derived'
        and field in ('tp', 'cp', 'pp', 'dp', 'ep', 'accelerators')
    group by all
),

marked as (
    select
        map.*,
        coalesce(derived.fields, []) as derived,
        list_has_any(coalesce(derived.fields, []), ['tp', 'cp', 'pp', 'dp', 'accelerators']) as circular
    from layout_map as map
    left join derived on map.run_id = derived.run_id and map.phase = derived.phase
)

select
    run_id,
    phase,
    name,
    sparsity,
    accelerators,
    tp,
    ep,
    cp,
    pp,
    dp,
    product,
    product_matches,
    derived,
    circular,
    not circular and product_matches and (tp is null)::int + (cp is null)::int + (pp is null)::int + (dp is null)::int = 1
        as leaves_one,
    scale_up_domain
from marked
order by sparsity is null, sparsity, accelerators desc nulls last, run_id, phase
