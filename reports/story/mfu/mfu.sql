-- One row per measured set-up: utilisation as printed and recomputed under three conventions.
select
    mfu.run_id,
    phase,
    mfu.name,
    mfu.organization,
    coalesce(sparsity, 'undisclosed') as hue,
    accelerator,
    coalesce(architecture, 'unknown') as architecture,
    mfu.released,
    runs.released_precision,
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
from mfu_comparable as mfu
join record.runs as runs on mfu.run_id = runs.id
where coalesce(mfu_6nd, mfu_causal, mfu_model_flops, mfu_reported) is not null
order by mfu_6nd desc nulls last, mfu.run_id, phase
