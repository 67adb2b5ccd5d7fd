-- One row per accelerator: the memory a program can have, as schemas/capacity.py reads it.
select
    id as accelerator,
    coalesce(usable_memory_gib, hbm_gib, hbm_gb * 1e9 / 1073741824) as card_gib
from record.accelerators
order by id
