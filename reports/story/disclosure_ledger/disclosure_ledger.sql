-- Runs by facts: stated, derived, seen second-hand, withheld or absent; the newest runs first.
select disclosure.run_id, runs.name, runs.organization, runs.released, disclosure.fact, disclosure.state
from disclosure
join record.runs as runs on disclosure.run_id = runs.id
order by runs.released desc nulls last, disclosure.run_id, disclosure.fact
