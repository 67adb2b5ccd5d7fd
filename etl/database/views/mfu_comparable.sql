-- One row per phase (or whole run, phase NULL) with a utilisation: as published, and recomputed in three conventions.
with implied as (
    select
        run_id,
        phase,
        max(implied_mfu) filter (convention = '6nd') as mfu_6nd,
        max(implied_mfu) filter (convention = 'causal') as mfu_causal,
        max(implied_mfu) filter (convention = 'model-flops') as mfu_model_flops
    from result.flops
    where implied_mfu is not null
    group by run_id, phase
),

of_phases as (
    select
        phases.run_id, phases.name as phase, phases.position, phases.accelerator, phases.precision, phases.seq_len,
        phases.reported_mfu, phases.reported_mfu_low, phases.reported_mfu_high, phases.reported_mfu_basis,
        phases.reported_hfu, phases.reported_tflops_per_accelerator,
        implied.mfu_6nd, implied.mfu_causal, implied.mfu_model_flops
    from record.phases as phases
    left join implied on implied.run_id = phases.run_id and implied.phase = phases.name
    where coalesce(phases.reported_mfu, phases.reported_mfu_low, phases.reported_hfu, implied.mfu_6nd,
        implied.mfu_causal, implied.mfu_model_flops) is not null
),

-- A run as a whole, from its totals, only where no phase of it has a figure; the first phase gives the part.
of_runs as (
    select
        implied.run_id, null as phase, 0 as position, first_phase.accelerator, first_phase.precision, first_phase.seq_len,
        null as reported_mfu, null as reported_mfu_low, null as reported_mfu_high, null as reported_mfu_basis,
        null as reported_hfu, null as reported_tflops_per_accelerator,
        implied.mfu_6nd, implied.mfu_causal, implied.mfu_model_flops
    from implied
    left join record.phases as first_phase on first_phase.run_id = implied.run_id and first_phase.position = 1
    where implied.phase is null and implied.run_id not in (select run_id from of_phases)
),

together as (
    select * from of_phases
    union all
    select * from of_runs
)

select
    together.run_id,
    together.phase,
    runs.name,
    runs.organization,
    models.sparsity,
    together.accelerator,
    accelerators.architecture,
    runs.released,
    together.precision,
    together.seq_len,
    together.reported_mfu as mfu_reported,
    together.reported_mfu_low as mfu_reported_low,
    together.reported_mfu_high as mfu_reported_high,
    together.reported_mfu_basis as mfu_basis,
    case when together.phase is null then 'whole-run' else 'steady' end as scope,
    together.mfu_6nd,
    together.mfu_causal,
    together.mfu_model_flops,
    case
        when coalesce(together.reported_mfu, together.reported_mfu_low) is not null
            and together.reported_mfu_basis is distinct from 'hardware-flops' then 'reported'
        when coalesce(together.reported_mfu, together.reported_mfu_low, together.reported_hfu,
            together.reported_tflops_per_accelerator) is not null then 'converted'
        else 'computed'
    end as status,
    -- Above the highest of twenty or more printed utilisations: more likely a wrong input than a new record.
    coalesce(greatest(together.mfu_6nd, together.mfu_causal, together.mfu_model_flops) > (
        select max(highest.reported_mfu) from record.phases as highest
        where highest.reported_mfu_basis is distinct from 'hardware-flops'
        having count(highest.reported_mfu) >= 20
    ), false) as outlier
from together
join pretraining_runs as runs on runs.id = together.run_id
left join record.models as models on models.id = runs.model
left join record.accelerators as accelerators on accelerators.id = together.accelerator
order by runs.released, together.run_id, together.position
