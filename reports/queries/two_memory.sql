-- Modelled memory per stage of the two runs of the story, phase by phase, against the memory of their card.
select
    memory.run_id,
    runs.name,
    memory.phase,
    memory.stage,
    memory.part,
    memory.value,
    memory.low,
    memory.high,
    coalesce(accelerators.usable_memory_gib, accelerators.hbm_gb * 1e9 / 1073741824) as card_gib
from result.memory as memory
join record.phases as phases on memory.run_id = phases.run_id and memory.phase = phases.name
join record.runs as runs on memory.run_id = runs.id
left join record.accelerators as accelerators on phases.accelerator = accelerators.id
where memory.run_id in ('meta/llama-3.1-405b', 'deepseek/deepseek-v3')
order by memory.run_id, phases.position, memory.stage, memory.part
