-- Where the values come from
with hidden as (
    select kind, count(*) as not_disclosed from record.not_disclosed group by kind
)

-- Rows of published tables cite the table as a whole and are not counted here.
select
    citations.kind,
    count(*) as "values",
    round(100 * avg((basis = 'reported' and not second_hand)::integer), 1) as "printed, %",
    round(100 * avg((basis = 'derived' and not second_hand)::integer), 1) as "derived, %",
    round(100 * avg((basis = 'estimated' and not second_hand)::integer), 1) as "estimated, %",
    round(100 * avg(second_hand::integer), 1) as "second-hand, %",
    coalesce(any_value(hidden.not_disclosed), 0) as "said not to be disclosed"
from record.citations as citations
left join hidden on hidden.kind = citations.kind
where citations.value is not null
group by citations.kind
order by count(*) desc, citations.kind
