-- One row per phase of pretraining with the facts of its run, model, accelerator and system that the checks need.
select
    phases.*,
    runs.organization as organization,
    runs.purpose as purpose,
    runs.framework as framework,
    runs.released as released,
    runs.model as model,
    models.sparsity as sparsity,
    coalesce(systems.accelerator, phases.accelerator) as placed_on,
    coalesce(systems.scale_up_domain, accelerators.scale_up_domain) as scale_up_domain,
    coalesce(systems.scale_up_gb_s, accelerators.scale_up_gb_s) as scale_up_gb_s,
    coalesce(systems.scale_out_gbit_s, accelerators.scale_out_gbit_s) as scale_out_gbit_s,
    accelerators.released as accelerator_released,
    accelerators.bf16_tflops, accelerators.fp16_tflops, accelerators.tf32_tflops, accelerators.fp32_tflops,
    accelerators.fp8_tflops, accelerators.fp4_tflops,
    capacity.card_gib
from record.phases as phases
join pretraining_runs as runs on runs.id = phases.run_id
left join record.models as models on models.id = runs.model
left join record.systems as systems on systems.id = phases.system
left join record.accelerators as accelerators
    on accelerators.id = coalesce(phases.accelerator, systems.accelerator)
left join accelerator_capacity as capacity on capacity.accelerator = accelerators.id
order by phases.run_id, phases.position
