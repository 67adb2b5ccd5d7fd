-- Every verdict with its sentence. A contradiction that the record itself explains is `explained`. `rests_on` is 'others'
-- where a number of a contradiction is an estimate or was seen only in somebody else's table (an estimate leaves it
-- unknown), 'makers' where the makers' own documents give all of them.
select
    verdicts.run_id,
    runs.name,
    runs.released,
    verdicts.phase,
    verdicts.check_name,
    case
        when verdicts.status in ('strained', 'impossible') and verdicts.explained is not null then 'explained'
        else verdicts.status
    end as status,
    case when json_exists(verdicts.reason_values, '$.rests_on') then 'others' else 'makers' end as rests_on,
    verdicts.decisive,
    verdicts.explained,
    verdicts.value,
    verdicts.low,
    verdicts.high,
    verdicts.unit,
    verdicts.why,
    verdicts.why_zh,
    verdicts.ratio_hint,
    verdicts.hangs_on,
    verdicts.slack_low,
    verdicts.slack_high,
    verdicts.missing
from result.verdicts as verdicts
join record.runs as runs on verdicts.run_id = runs.id
order by list_position(['impossible', 'strained', 'explained', 'plausible', 'unknown'], status),
    verdicts.run_id, verdicts.phase nulls first, verdicts.check_name
