-- One row per run of post-training: its cost, what it generated, and its compute beside that of the base's pretraining.
with hardware as (
    select
        run_id,
        arg_min(accelerator, position) filter (accelerator is not null) as accelerator,
        max(coalesce(accelerators, accelerators_high)) as accelerators
    from record.phases
    group by run_id
)

select
    runs.id as run_id,
    runs.name,
    runs.organization,
    runs.purpose,
    runs.released,
    runs.released_precision,
    runs.model as model_id,
    runs.base,
    runs.base_run,
    runs.method,
    hardware.accelerator,
    hardware.accelerators,
    runs.accelerators_training,
    runs.accelerators_rollout,
    runs.accelerator_hours,
    runs.accelerator_hours_low,
    runs.accelerator_hours_high,
    runs.days,
    runs.steps,
    runs.tokens,
    runs.cost_usd,
    runs.compute_flop,
    runs.compute_flop_low,
    runs.compute_flop_high,
    runs.prompts,
    runs.prompts_per_step,
    runs.samples_per_prompt,
    runs.rollouts,
    runs.tokens_generated,
    runs.max_response,
    runs.share_of_pretraining,
    runs.share_of_pretraining_low,
    runs.share_of_pretraining_high,
    runs.share_basis,
    base.accelerator_hours as base_accelerator_hours,
    -- Hours compare only on one type of accelerator.
    case
        when hardware.accelerator = of_base.accelerator then runs.accelerator_hours / base.accelerator_hours
    end as share_of_base_hours
from record.runs as runs
left join hardware on hardware.run_id = runs.id
left join record.runs as base on base.id = runs.base_run
left join hardware as of_base on of_base.run_id = runs.base_run
where runs.purpose in ('sft', 'rl', 'distillation')
order by runs.released, runs.id
