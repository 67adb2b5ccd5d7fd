-- The documents of every run.
select record_id as run_id, key, title, url, source_kind, published, read
from record.sources
where kind = 'run'
order by record_id, key
