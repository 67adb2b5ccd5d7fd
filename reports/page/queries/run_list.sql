-- Every run with its model, totals, largest phase and worst verdict.
select summary.*, runs.note, runs.framework, runs.started, runs.ended
from run_summary as summary
join record.runs as runs on summary.run_id = runs.id
order by summary.run_id
