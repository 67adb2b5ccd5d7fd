-- Modelled memory per stage of the two runs of the story (largest phase, shorter context), against the memory of the card;
-- peak, low and high: the span of the whole model, from the check that compares it with the card.
with chosen as (
    select run_id, phase, accelerator, row_number() over (
        partition by run_id order by accelerators desc, seq_len, position
    ) as place
    from phase_summary
    where run_id in ('meta/llama-3.1-405b', 'deepseek/deepseek-v3')
)

select
    parts.run_id,
    runs.name,
    parts.phase,
    parts.stage,
    parts.part,
    parts.value,
    capacity.card_gib,
    checks.value as peak,
    checks.low as peak_low,
    checks.high as peak_high,
    parts.assumed
from memory_groups as parts
join chosen on parts.run_id = chosen.run_id and parts.phase = chosen.phase and chosen.place = 1
join record.runs as runs on parts.run_id = runs.id
left join accelerator_capacity as capacity on capacity.accelerator = chosen.accelerator
left join result.verdicts as checks
    on checks.run_id = parts.run_id and checks.phase = parts.phase and checks.check_name = 'memory-fit'
order by runs.released, parts.run_id, parts.stage, parts.part
