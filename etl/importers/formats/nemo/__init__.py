"""NeMo and Megatron-Bridge configs and recipes."""

from etl.importers.format import Format

FORMATS = (
    Format("nemo_yaml", ("yaml",), "architecture, layout, batch, devices, duration", "vocabulary"),
    Format(
        "nemo_python",
        ("python",),
        "layout, batch, devices, duration",
        "the architecture behind the name of a class or hub",
    ),
)
