-- One row per run of pretraining, estimates included; what trains further has the view post_training.
select *
from record.runs
where purpose not in ('sft', 'rl', 'distillation')
order by id
