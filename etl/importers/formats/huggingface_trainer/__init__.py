"""The Hugging Face trainer and what hands its arguments on: TRL, the handbook, LLaMA-Factory, open-instruct."""

from etl.importers.format import Format

FORMATS = (
    Format(
        "llamafactory_yaml",
        ("yaml", "json"),
        "length, batch, sharding, layout of its Megatron trainer",
        "architecture, devices",
    ),
    Format("trainer_yaml", ("yaml", "json"), "length, batch, precision, recomputation", "architecture, devices"),
    Format("trainer_state_json", ("json",), "planned steps, batch per device, loss, mean step time", "devices, layout"),
    Format("trainer_sh", ("shell",), "length, batch, devices, sharding", "architecture"),
)
