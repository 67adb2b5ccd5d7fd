-- Every verdict with its sentence.
select
    verdicts.run_id,
    runs.name,
    runs.released,
    verdicts.phase,
    verdicts.check_name,
    verdicts.status,
    verdicts.value,
    verdicts.low,
    verdicts.high,
    verdicts.unit,
    verdicts.why,
    verdicts.why_zh,
    verdicts.ratio_hint,
    verdicts.missing
from result.verdicts as verdicts
join record.runs as runs on verdicts.run_id = runs.id
order by list_position(['impossible', 'strained', 'plausible', 'unknown'], verdicts.status),
    verdicts.run_id, verdicts.phase nulls first, verdicts.check_name
