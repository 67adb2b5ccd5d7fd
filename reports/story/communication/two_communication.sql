-- Modelled traffic and time per axis of the two runs of the story (their largest phase at the shorter context).
with chosen as (
    select run_id, phase, row_number() over (partition by run_id order by accelerators desc, seq_len, position) as place
    from phase_summary
    where run_id in ('meta/llama-3.1-405b', 'deepseek/deepseek-v3')
),

steps as (
    select run_id, phase, max(value) as value from result.timing where part = 'step' group by run_id, phase
)

select
    traffic.run_id,
    runs.name,
    traffic.phase,
    traffic.dimension,
    traffic.bytes_per_step,
    traffic.placement,
    traffic.bytes_per_step - traffic.scale_out_bytes_per_step as scale_up_bytes_per_step,
    traffic.scale_out_bytes_per_step,
    traffic.seconds,
    traffic.exposed_s,
    step.value as step_s
from result.communication as traffic
join chosen on traffic.run_id = chosen.run_id and traffic.phase = chosen.phase and chosen.place = 1
join record.runs as runs on traffic.run_id = runs.id
left join steps as step on step.run_id = traffic.run_id and step.phase = traffic.phase
order by traffic.run_id, list_position(['tp', 'ep', 'cp', 'pp', 'dp'], traffic.dimension)
