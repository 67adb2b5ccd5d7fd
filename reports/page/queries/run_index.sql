-- Every run as the search field and the filters of the page know it: names, seat, chip, size, year, main document.
with seats as (
    select run_id, string_agg(distinct country, ' ' order by country) as countries,
        string_agg(distinct coalesce(owner, organization), ', ') as owners
    from run_organizations
    group by run_id
),

documents as (
    select record_id as run_id, arg_min(title, position) as title, arg_min(url, position) as url
    from (
        select record_id, title, url, row_number() over (
            partition by record_id
            order by source_kind in ('database', 'press'), source_kind <> 'paper', key
        ) as position
        from record.sources
        where kind = 'run'
    )
    group by record_id
)

select
    summary.run_id,
    summary.name,
    summary.organization,
    coalesce(seats.owners, summary.organization) as owners,
    coalesce(seats.countries, '') as countries,
    coalesce(split_part(accelerators.architecture, '-', 1), '') as chip,
    coalesce(summary.sparsity, 'undisclosed') as sparsity,
    case
        when summary.params_total is null then 'unknown'
        when summary.params_total < 1e10 then 'small'
        when summary.params_total < 1e11 then 'middle'
        else 'large'
    end as size,
    year(summary.released) as year,
    summary.released,
    summary.released_precision,
    summary.params_total,
    summary.params_active,
    summary.tokens,
    summary.compute_flop,
    summary.accelerators,
    accelerators.name as accelerator,
    summary.mfu_6nd,
    summary.mfu_reported,
    summary.purpose not in ('pretraining', 'continued-pretraining', 'estimate') as post,
    documents.title,
    documents.url
from run_summary as summary
left join seats on seats.run_id = summary.run_id
left join record.accelerators as accelerators on accelerators.id = summary.accelerator
left join documents on documents.run_id = summary.run_id
order by summary.released desc nulls last, summary.run_id
