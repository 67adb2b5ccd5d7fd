-- One row per phase with a parallel layout: its degrees, and whether their product is the accelerator count.
with layouts as (
    select
        phases.run_id, phases.phase, phases.name, phases.sparsity, phases.position, phases.accelerators,
        phases.tp, phases.ep, phases.cp, phases.pp, phases.dp,
        coalesce(tp, 1) * coalesce(cp, 1) * coalesce(pp, 1) * coalesce(dp, 1) as known,
        tp is not null and cp is not null and pp is not null and dp is not null as complete,
        phases.scale_up_domain
    from phase_summary as phases
    -- Ranks that generate stand beside those that train in post-training, so that its degrees multiply to neither.
    where coalesce(tp, cp, pp, dp, ep) is not null and phases.run_id in (select id from pretraining_runs)
)

-- Expert parallelism lies inside data parallelism and is never multiplied. A degree that is not stated may be anything
-- that divides the rest, so the product is given only where all four are stated or the stated ones use up every accelerator.
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
    case when complete or known = accelerators then known end as product,
    case
        when known = accelerators then true
        when complete or accelerators % known <> 0 then known = accelerators
    end as product_matches,
    scale_up_domain
from layouts
order by accelerators, run_id, position
