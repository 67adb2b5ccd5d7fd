-- What the layouts consistent with a partly disclosed phase share; the row of the set itself first.
select run_id, phase, legal, consistent, fact, words, narrows
from result.inferred
order by run_id, phase, fact <> 'layout', fact
