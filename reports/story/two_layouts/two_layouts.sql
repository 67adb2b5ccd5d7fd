-- The two runs of the story: their largest phase at the shorter context, with totals and recomputed utilisation.
with chosen as (
    select
        phases.*,
        row_number() over (
            partition by phases.run_id order by phases.accelerators desc, phases.seq_len, phases.position
        ) as place
    from phase_summary as phases
    where phases.run_id in ('meta/llama-3.1-405b', 'deepseek/deepseek-v3')
)

select
    chosen.run_id,
    chosen.phase,
    chosen.name,
    chosen.sparsity,
    summary.params_total,
    summary.params_active,
    summary.tokens,
    summary.compute_flop,
    chosen.accelerator,
    chosen.accelerators,
    chosen.tp,
    chosen.cp,
    chosen.pp,
    chosen.dp,
    chosen.ep,
    chosen.zero_stage,
    chosen.schedule,
    chosen.seq_len,
    chosen.global_batch_tokens,
    chosen.precision,
    chosen.recompute,
    chosen.scale_up_domain,
    summary.accelerator_hours,
    mfu.mfu_reported,
    mfu.mfu_6nd,
    mfu.mfu_causal,
    mfu.mfu_model_flops
from chosen
join run_summary as summary on chosen.run_id = summary.run_id
left join mfu_comparable as mfu on chosen.run_id = mfu.run_id and coalesce(mfu.phase, chosen.phase) = chosen.phase
where chosen.place = 1
order by chosen.accelerators desc
