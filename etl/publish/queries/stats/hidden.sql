-- How often each field of one kind is said not to be disclosed
select field, count(*) as number
from record.not_disclosed
where kind = $kind and (block like '%.%') = $child
group by field
order by field
