-- One row per run and organization behind it, in the order of naming, with the organization's kind and seat.
with split as (
    select
        id as run_id,
        case
            when organization in (select name from record.organizations) then [organization]
            else regexp_split_to_array(organization, ', | and ')
        end as members
    from record.runs
),

members as (
    select run_id, unnest(members) as organization, generate_subscripts(members, 1) as position
    from split
)

select
    members.run_id,
    members.position,
    members.organization,
    organizations.id as organization_id,
    organizations.kind as organization_kind,
    organizations.country,
    coalesce(parents.name, members.organization) as owner
from members
left join record.organizations as organizations on organizations.name = members.organization
left join record.organizations as parents on parents.id = organizations.parent
order by members.run_id, members.position
