-- Values on which documents disagree, of runs and of their models.
select runs.id as run_id, conflicts.kind, conflicts.field, conflicts.other, sources.title, sources.url, conflicts.locator,
    conflicts.why
from record.conflicts as conflicts
join record.runs as runs
    on (conflicts.kind = 'run' and conflicts.record_id = runs.id)
    or (conflicts.kind = 'model' and conflicts.record_id = runs.model)
left join record.sources as sources
    on sources.kind = conflicts.kind and sources.record_id = conflicts.record_id and sources.key = conflicts.source
order by run_id, conflicts.kind, conflicts.field, conflicts.other, conflicts.source, conflicts.locator
