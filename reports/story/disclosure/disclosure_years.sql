-- Share of the model families of each year for which a document of their makers prints a fact, whoever read that
-- document for us. Siblings of one family and year count once: the fact is printed if it is for any of them.
with families as (
    select
        disclosure.year,
        disclosure.fact,
        coalesce(models.family, runs.model) as family,
        bool_or(disclosure.printed) as printed
    from disclosure
    join record.runs as runs on disclosure.run_id = runs.id
    left join record.models as models on runs.model = models.id
    where disclosure.year is not null and runs.purpose in ('pretraining', 'estimate')
    group by all
)

select
    year,
    fact,
    count(*) as families,
    count(*) filter (printed) as stated,
    avg(printed::integer) as share
from families
group by year, fact
order by year, fact
