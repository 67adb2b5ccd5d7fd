-- Every cited value of a run and of its model, with the document and place that print it.
with cited as (
    select record_id as run_id, 0 as part, citations.rowid as place, kind, record_id, block, field, value, basis, source,
        locator, how, via_source, via_locator, second_hand
    from record.citations as citations
    where kind = 'run'
    union all
    select runs.id as run_id, 1 as part, citations.rowid as place, citations.kind, citations.record_id, 'model' as block, citations.field, citations.value,
        citations.basis, citations.source, citations.locator, citations.how, citations.via_source,
        citations.via_locator, citations.second_hand
    from record.citations as citations
    join record.runs as runs on citations.kind = 'model' and citations.record_id = runs.model
)

select
    cited.run_id,
    cited.block,
    cited.field,
    cited.value,
    cited.basis,
    sources.title,
    sources.url,
    cited.locator,
    cited.how,
    cited.second_hand,
    via.title as via_title,
    via.url as via_url,
    cited.via_locator
from cited
left join record.sources as sources
    on sources.kind = cited.kind and sources.record_id = cited.record_id and sources.key = cited.source
left join record.sources as via
    on via.kind = cited.kind and via.record_id = cited.record_id and via.key = cited.via_source
order by cited.run_id, cited.part, cited.place
