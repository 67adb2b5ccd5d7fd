-- Dated sizes of clusters in megawatts of the whole site (of its computers where only that is known).
select
    'cluster:' || id as id,
    name,
    organization,
    'cluster' as hue,
    date,
    date_precision as precision,
    coalesce(power_mw, power_it_mw) as power_mw,
    case when power_mw is null then 'computers' else 'site' end as covers,
    accelerators,
    accelerator,
    status
from cluster_sizes
where kind = 'cluster' and date is not null and coalesce(power_mw, power_it_mw) > 0
order by date, id, power_mw
