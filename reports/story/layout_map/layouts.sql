-- Degrees of every published layout; expert parallelism lies inside data parallelism and is not a factor.
select
    map.run_id,
    map.phase,
    map.name,
    map.sparsity,
    map.accelerators,
    map.tp,
    map.ep,
    map.cp,
    map.pp,
    map.dp,
    map.product,
    map.product_matches,
    map.scale_up_domain,
    map.tp > map.scale_up_domain as tp_leaves,
    map.ep > map.scale_up_domain as ep_leaves
from layout_map as map
order by map.sparsity is null, map.sparsity, map.accelerators nulls last, map.run_id, map.phase
