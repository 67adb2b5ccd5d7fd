-- One row per published table of measured rows: what it covers and how much of it is doubtful.
with counted as (
    select
        benchmark_id,
        count(*) as rows,
        list_sort(list(distinct accelerator) filter (accelerator is not null)) as accelerator_types,
        min(accelerators) as accelerators_min,
        max(accelerators) as accelerators_max,
        list_sort(list(distinct model_name) filter (model_name is not null)) as model_names,
        count(step_time_s) as rows_with_time,
        count(memory_gib) as rows_with_memory,
        count(coalesce(mfu, hfu, tflops_per_accelerator)) as rows_with_utilisation,
        count(*) filter (experts > 1) as rows_moe,
        count(doubt) as rows_doubtful
    from record.benchmark_rows
    group by benchmark_id
)

select
    benchmarks.id as benchmark_id,
    benchmarks.name,
    benchmarks.organization,
    benchmarks.flop_basis,
    counted.* exclude (benchmark_id)
from record.benchmarks as benchmarks
left join counted on counted.benchmark_id = benchmarks.id
order by benchmarks.id
