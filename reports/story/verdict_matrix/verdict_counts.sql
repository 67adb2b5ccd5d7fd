-- The worst verdict of each checked run, the worst runs first.
select verdicts.run_id, runs.name, runs.organization, verdicts.verdict
from (
    select
        run_id,
        case
            when bool_or(status = 'impossible') then 'impossible'
            when bool_or(status = 'strained') then 'strained'
            when bool_or(status = 'plausible') then 'plausible'
            else 'unknown'
        end as verdict
    from result.verdicts
    group by run_id
) as verdicts
join record.runs as runs on verdicts.run_id = runs.id
order by list_position(['impossible', 'strained', 'plausible', 'unknown'], verdicts.verdict), verdicts.run_id
