-- Share of runs of each year whose makers state a fact (or print what it follows from).
select
    year,
    fact,
    count(*) as runs,
    count(*) filter (state in ('stated', 'derived')) as stated,
    avg((state in ('stated', 'derived'))::integer) as share
from disclosure
where year is not null
group by year, fact
order by year, fact
