"""OLMo and OLMo-core configs."""

from etl.importers.format import Format

FORMATS = (
    Format("olmo_yaml", ("yaml",), "architecture, batch, duration", "devices"),
    Format("olmo_core_py", ("python",), "batch in tokens, duration, sharding", "architecture, devices"),
)
