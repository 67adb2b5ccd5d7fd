"""verl: reinforcement learning with Hydra settings, in scripts and YAML."""

from etl.importers.format import Format

FORMATS = (
    Format("verl_sh", ("shell",), "layout of the actor, batches, devices", "architecture"),
    Format("verl_yaml", ("yaml",), "layout of the actor, batches, devices", "architecture"),
)
