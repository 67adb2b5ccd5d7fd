-- Facts that the makers chose not to print.
select runs.id as run_id, silence.block, silence.field
from record.not_disclosed as silence
join record.runs as runs
    on (silence.kind = 'run' and silence.record_id = runs.id)
    or (silence.kind = 'model' and silence.record_id = runs.model)
order by run_id, silence.block, silence.field
