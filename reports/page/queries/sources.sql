-- The documents of every run and of the model that it trained, each address once.
with documents as (
    select record_id as run_id, 0 as part, key, title, url, source_kind, published, read
    from record.sources
    where kind = 'run'
    union all
    select runs.id as run_id, 1 as part, sources.key, sources.title, sources.url, sources.source_kind, sources.published, sources.read
    from record.sources as sources
    join record.runs as runs on sources.kind = 'model' and sources.record_id = runs.model
)

select run_id, key, title, url, source_kind, published, read
from documents
qualify row_number() over (partition by run_id, url order by part, key) = 1
order by run_id, part, key
