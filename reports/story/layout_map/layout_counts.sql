-- How many runs state a tensor-parallel degree, keep it inside the scale-up domain, or use none, dense and MoE apart.
with runs as (
    select run_id, any_value(sparsity) as sparsity, max(tp) as tp, max(ep) as ep, max(scale_up_domain) as domain
    from layout_map
    group by run_id
)

select
    coalesce(sparsity, 'undisclosed') as sparsity,
    count(*) as runs,
    count(tp) as tp_stated,
    count(*) filter (tp is not null and domain is not null) as tp_placed,
    count(*) filter (tp <= domain) as tp_inside,
    count(*) filter (tp > domain) as tp_outside,
    count(*) filter (tp = 1) as tp_one,
    count(*) filter (tp = 8) as tp_eight,
    count(*) filter (ep > domain) as ep_outside
from runs
group by all
order by sparsity
