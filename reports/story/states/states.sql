-- Model states of mixed-precision Adam by part, for the two models of the story, against one card.
with recipe (part, position, bytes_per_parameter) as (
    values ('weights', 1, 2), ('gradients', 2, 2), ('master', 3, 4), ('moments', 4, 8)
),

models as (
    select models.id as model_id, models.name, coalesce(exact.value, models.params_total) as params
    from record.models as models
    left join result.parameters as exact on exact.model_id = models.id and exact.part = 'total'
    where models.id in ('meta/llama-3.1-8b', 'meta/llama-3.1-405b')
),

card as (
    select accelerators.name as card, capacity.card_gib * 1.073741824 as hbm_gb
    from record.accelerators as accelerators
    join accelerator_capacity as capacity on capacity.accelerator = accelerators.id
    where accelerators.id = 'nvidia/h100-sxm-80gb'
)

select
    models.model_id,
    models.name,
    models.params,
    recipe.part,
    recipe.bytes_per_parameter,
    models.params * recipe.bytes_per_parameter / 1e9 as gb,
    sum(models.params * recipe.bytes_per_parameter / 1e9)
        over (partition by models.model_id order by recipe.position) as gb_end,
    card.card,
    card.hbm_gb
from models
cross join recipe
cross join card
where models.params is not null
order by models.params, recipe.position
