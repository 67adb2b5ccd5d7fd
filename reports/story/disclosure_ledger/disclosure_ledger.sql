-- Pretraining runs by facts: stated, derived, seen second-hand, withheld or absent; the newest runs first.
select disclosure.run_id, runs.name, runs.organization, runs.released, runs.released_precision,
    disclosure.fact, disclosure.state
from disclosure
join record.runs as runs on disclosure.run_id = runs.id
where runs.purpose in ('pretraining', 'continued-pretraining', 'estimate')
order by runs.released desc nulls last, disclosure.run_id, disclosure.fact
