-- Values that a record does not state at first hand, and values on which sources disagree; one row per field.
select kind, record_id, case when block = '' then field else block || '.' || field end as path,
    case when basis = 'estimated' then 'estimated' else 'second-hand' end as basis, null as why
from record.citations
where (basis = 'estimated' or second_hand) and kind in ('run', 'model')
union all
select kind, record_id, field as path, null as basis, why
from record.conflicts
where kind in ('run', 'model')
order by all
