-- Every cluster as the filters of the page know it.
select
    'cluster:' || sizes.id as id,
    any_value(sizes.name) as name,
    any_value(sizes.organization) as organization,
    coalesce(any_value(sizes.country), '') as country,
    list(distinct split_part(accelerators.architecture, '-', 1)) filter (accelerators.architecture is not null) as chips
from cluster_sizes as sizes
left join record.accelerators as accelerators on accelerators.id = sizes.accelerator
where sizes.kind = 'cluster'
group by sizes.id
order by sizes.id
