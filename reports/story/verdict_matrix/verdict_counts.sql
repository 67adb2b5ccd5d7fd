-- The worst verdict of each checked run, the worst runs first. A contradiction that the record explains does not count,
-- and a run is plausible only where a check that compares two printed numbers is.
select verdicts.run_id, runs.name, runs.organization, verdicts.verdict
from (
    select
        run_id,
        case
            when bool_or(status = 'impossible' and explained is null) then 'impossible'
            when bool_or(status = 'strained' and explained is null) then 'strained'
            when bool_or(status = 'plausible' and decisive) then 'plausible'
            else 'unknown'
        end as verdict
    from result.verdicts
    group by run_id
) as verdicts
join record.runs as runs on verdicts.run_id = runs.id
order by list_position(['impossible', 'strained', 'plausible', 'unknown'], verdicts.verdict), verdicts.run_id
