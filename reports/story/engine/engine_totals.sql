-- All measurements of one quantity together.
select
    quantity,
    count(modelled) as n,
    median(abs(modelled / measured - 1)) as error_median,
    quantile_cont(abs(modelled / measured - 1), 0.9) as error_p90,
    count(*) filter (where measured between low and high) / nullif(count(modelled), 0) as covered
from result.measured
group by quantity
having count(modelled) > 0
order by quantity desc
