-- One row per run: what it is, its totals, its largest phase, and what the analysis says about it.
with ranked as (
    select
        *,
        row_number() over (
            partition by run_id
            order by coalesce(accelerators, accelerators_high, accelerators_low, 0) desc, position
        ) as size_rank,
        count(*) over (partition by run_id) as phases
    from record.phases
),

largest as (
    select * from ranked where size_rank = 1
),

exact as (
    select
        model_id,
        max(value) filter (part = 'total') as params_total,
        max(value) filter (part = 'active') as params_active
    from result.parameters
    group by model_id
),

counted as (
    select run_id, max(total_flop) as total_flop
    from result.flops
    where convention = '6nd' and phase is null
    group by run_id
),

cited as (
    select record_id as run_id, any_value(basis) as basis
    from record.citations
    where kind = 'run' and block = 'totals' and field = 'compute_flop'
    group by record_id
),

compute as (
    select
        runs.id as run_id,
        coalesce(runs.compute_flop, runs.compute_flop_low, runs.compute_flop_high) is not null as published,
        case when published then runs.compute_flop else counted.total_flop end as compute_flop,
        runs.compute_flop_low,
        runs.compute_flop_high,
        case when published then runs.compute_basis when counted.total_flop is not null then '6nd' end as compute_basis,
        case
            when not published and counted.total_flop is null then null
            when runs.purpose = 'estimate' or (published and cited.basis = 'estimated') then 'estimated'
            when not published or cited.basis = 'derived' then 'computed'
            else 'reported'
        end as compute_status
    from record.runs as runs
    left join counted on counted.run_id = runs.id
    left join cited on cited.run_id = runs.id
),

-- The utilisation of the largest phase that has one.
utilisation as (
    select mfu.*
    from mfu_comparable as mfu
    left join ranked on ranked.run_id = mfu.run_id and ranked.name = mfu.phase
    qualify row_number() over (partition by mfu.run_id order by ranked.size_rank nulls last) = 1
),

-- A run is as bad as its worst check; unknown only where no check could decide.
verdict as (
    select
        run_id,
        arg_min(status, list_position(['impossible', 'strained', 'plausible', 'unknown'], status)) as verdict
    from result.verdicts
    group by run_id
),

disclosed as (
    select run_id, avg((state in ('stated', 'derived'))::integer) as disclosed
    from disclosure
    group by run_id
)

select
    runs.id as run_id,
    runs.name,
    runs.organization,
    makers.organization_kind,
    makers.country,
    runs.model as model_id,
    models.name as model_name,
    models.sparsity,
    runs.purpose,
    runs.released,
    runs.released_precision,
    runs.tokens,
    runs.tokens_low,
    runs.tokens_high,
    coalesce(exact.params_total, models.params_total) as params_total,
    coalesce(
        exact.params_active,
        models.params_active,
        case when models.sparsity = 'dense' then coalesce(exact.params_total, models.params_total) end
    ) as params_active,
    compute.compute_flop,
    compute.compute_flop_low,
    compute.compute_flop_high,
    compute.compute_status,
    compute.compute_basis,
    runs.accelerator_hours,
    runs.days,
    runs.steps,
    runs.cost_usd,
    runs.energy_mwh,
    largest.name as phase,
    largest.accelerator,
    largest.accelerators,
    largest.accelerators_low,
    largest.accelerators_high,
    coalesce(largest.phases, 0) as phases,
    largest.tp,
    largest.cp,
    largest.pp,
    largest.vpp,
    largest.dp,
    largest.ep,
    largest.seq_len,
    largest.precision,
    utilisation.phase as mfu_phase,
    utilisation.mfu_reported,
    utilisation.mfu_basis,
    utilisation.mfu_6nd,
    utilisation.mfu_causal,
    utilisation.mfu_model_flops,
    utilisation.status as mfu_status,
    verdict.verdict,
    disclosed.disclosed
from record.runs as runs
left join record.models as models on models.id = runs.model
left join exact on exact.model_id = runs.model
left join compute on compute.run_id = runs.id
left join largest on largest.run_id = runs.id
left join utilisation on utilisation.run_id = runs.id
left join verdict on verdict.run_id = runs.id
left join disclosed on disclosed.run_id = runs.id
left join run_organizations as makers on makers.run_id = runs.id and makers.position = 1
order by runs.id
