-- The engine against published measurements: per publisher the ratio of modelled to measured, and how often the
-- interval holds the measured value. A publisher of one table goes by the table's name.
with publishers as (
    select
        measured.family,
        case
            when count(distinct tables.id) = 1 then min(tables.name)
            else replace(measured.family, ' (' || split_part(measured.family, ' (', 1) || ')', '')
        end as name
    from result.measured as measured
    join record.benchmarks as tables on tables.id = measured.benchmark_id
    group by measured.family
)

select
    publishers.name || ', ' || measured.quantity as id,
    publishers.name,
    measured.quantity,
    count(measured.modelled) as n,
    count(*) - count(measured.modelled) as n_unknown,
    quantile_cont(measured.modelled / measured.measured, 0.1) as ratio_low,
    median(measured.modelled / measured.measured) as ratio,
    quantile_cont(measured.modelled / measured.measured, 0.9) as ratio_high,
    median(abs(measured.modelled / measured.measured - 1)) as error_median,
    count(*) filter (where measured.measured between measured.low and measured.high) / count(measured.modelled) as covered
from result.measured as measured
join publishers on publishers.family = measured.family
group by publishers.name, measured.quantity
having count(measured.modelled) > 0
order by measured.quantity desc, n desc, publishers.name
