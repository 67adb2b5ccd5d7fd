-- One row per layout of a table that prints those that ran out of memory too, with who published it.
select
    rows.*,
    rows.benchmark_id as source,
    regexp_replace(benchmarks.name, '[ ,:(].*$', '') || ' (' || benchmarks.organization || ')' as family,
    capacity.card_gib
from record.benchmark_rows as rows
join record.benchmarks as benchmarks on benchmarks.id = rows.benchmark_id
left join accelerator_capacity as capacity on capacity.accelerator = rows.accelerator
where rows.adapter is null
    and (rows.doubt is null or rows.doubt like 'time: %' or rows.outcome = 'oom')
    and rows.benchmark_id in (select benchmark_id from record.benchmark_rows where outcome = 'oom')
order by rows.benchmark_id, rows.position
