-- One row per run: its totals and its model's headline figures.
select
    runs.*,
    runs.id in (select id from pretraining_runs) as is_pretraining,
    models.sparsity as sparsity,
    models.params_total, models.params_total_low, models.params_total_high,
    models.params_active, models.params_active_low, models.params_active_high
from record.runs as runs
left join record.models as models on models.id = runs.model
order by runs.id
