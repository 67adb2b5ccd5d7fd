-- One row per published measurement not marked doubtful, with who published it; where only the time is doubted, without it.
select
    rows.* replace (case when rows.doubt is null then rows.step_time_s end as step_time_s),
    rows.benchmark_id as source,
    -- The first word of a table's name and its publisher: releases of one table are no witnesses for each other.
    regexp_replace(benchmarks.name, '[ ,:(].*$', '') || ' (' || benchmarks.organization || ')' as family
from record.benchmark_rows as rows
join record.benchmarks as benchmarks on benchmarks.id = rows.benchmark_id
-- Layouts that ran out of memory have no measurement, and adapters on a frozen base are another workload.
where (rows.doubt is null or rows.doubt like 'time: %') and rows.outcome = 'ran' and rows.adapter is null
order by rows.benchmark_id, rows.position
