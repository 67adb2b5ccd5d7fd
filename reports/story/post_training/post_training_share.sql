-- Post-training runs whose compute is known as a share of their base's pretraining: printed, or worked out from
-- accelerator-hours or FLOP. A share known as a range stands at its geometric centre.
select
    run_id,
    name,
    organization,
    purpose,
    released,
    released_precision as precision,
    coalesce(share_of_pretraining, sqrt(share_of_pretraining_low * share_of_pretraining_high)) as share,
    coalesce(share_of_pretraining_low, share_of_pretraining) as share_low,
    coalesce(share_of_pretraining_high, share_of_pretraining) as share_high,
    share_of_pretraining is null as is_range,
    share_basis
from post_training
where released is not null and coalesce(share_of_pretraining, share_of_pretraining_low * share_of_pretraining_high) > 0
order by released, run_id
