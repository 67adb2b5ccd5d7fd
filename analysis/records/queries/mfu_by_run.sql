-- One row per run, convention and sparsity: the median utilisation of its set-ups, and what it was measured over. Outliers are left out.
select run_id, sparsity, convention, any_value(scope) as scope, median(mfu) as mfu, min(released) as released
from mfu_comparable
unpivot (mfu for convention in (
    mfu_6nd as '6nd', mfu_causal as 'causal', mfu_model_flops as 'model-flops', mfu_reported as 'as-reported'
))
where sparsity in ('dense', 'moe') and not outlier
group by all
order by convention, sparsity, run_id
