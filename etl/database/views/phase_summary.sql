-- One row per phase: its layout and performance beside the run, the model's shape, and the hardware it ran on.
with peaks as (
    select id, unnest([
        {'precision': 'fp32', 'peak_tflops': fp32_tflops},
        {'precision': 'tf32', 'peak_tflops': tf32_tflops},
        {'precision': 'fp16', 'peak_tflops': fp16_tflops},
        {'precision': 'bf16', 'peak_tflops': bf16_tflops},
        {'precision': 'fp8', 'peak_tflops': fp8_tflops},
        {'precision': 'mxfp8', 'peak_tflops': fp8_tflops},
        {'precision': 'nvfp4', 'peak_tflops': fp4_tflops},
        {'precision': 'mxfp4', 'peak_tflops': fp4_tflops},
        {'precision': 'int8', 'peak_tflops': int8_tops}
    ], recursive := true)
    from record.accelerators
)

select
    phases.run_id,
    phases.name as phase,
    phases.position,
    runs.name,
    runs.organization,
    runs.purpose,
    runs.released,
    models.sparsity,
    phases.* exclude (run_id, name, position),
    runs.model as model_id,
    models.* exclude (id, name, aliases, organization, family, sparsity, note),
    accelerators.architecture,
    peaks.peak_tflops,
    coalesce(accelerators.hbm_gb, accelerators.hbm_gib * 1.073741824) as hbm_gb,
    capacity.card_gib,
    coalesce(systems.scale_up_domain, accelerators.scale_up_domain) as scale_up_domain,
    coalesce(systems.scale_up_gb_s, accelerators.scale_up_gb_s) as scale_up_gb_s,
    coalesce(systems.scale_out_gbit_s, accelerators.scale_out_gbit_s) as scale_out_gbit_s
from record.phases as phases
join record.runs as runs on runs.id = phases.run_id
left join record.models as models on models.id = runs.model
left join record.accelerators as accelerators on accelerators.id = phases.accelerator
left join accelerator_capacity as capacity on capacity.accelerator = phases.accelerator
left join record.systems as systems on systems.id = phases.system
left join peaks on peaks.id = phases.accelerator and peaks.precision = phases.precision
order by phases.run_id, phases.position
