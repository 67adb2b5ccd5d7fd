-- One row per measured set-up: utilisation as printed and recomputed under three conventions.
select
    run_id,
    phase,
    name,
    organization,
    coalesce(sparsity, 'undisclosed') as hue,
    accelerator,
    coalesce(architecture, 'unknown') as architecture,
    released,
    precision,
    seq_len,
    mfu_6nd,
    mfu_causal,
    mfu_model_flops,
    mfu_reported,
    mfu_basis,
    scope,
    status,
    outlier
from mfu_comparable
where coalesce(mfu_6nd, mfu_causal, mfu_model_flops, mfu_reported) is not null
order by mfu_6nd desc nulls last, run_id, phase
