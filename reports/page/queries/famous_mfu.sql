-- One published utilisation with its document and place: the largest dense run that states one near 41%.
select
    phases.run_id,
    runs.name,
    phases.name as phase,
    phases.reported_mfu as mfu,
    citations.locator,
    sources.title,
    sources.url
from record.phases as phases
join record.runs as runs on phases.run_id = runs.id
join record.citations as citations
    on citations.kind = 'run' and citations.record_id = phases.run_id
    and citations.block = 'phases.' || phases.name and citations.field = 'mfu'
join record.sources as sources
    on sources.kind = 'run' and sources.record_id = phases.run_id and sources.key = citations.source
where phases.reported_mfu is not null
order by abs(phases.reported_mfu - 0.41), phases.accelerators desc, phases.run_id, phases.position
limit 1
