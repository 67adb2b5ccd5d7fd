"""Megatron-LM and its descendants: scripts, flags and settings."""

from etl.importers.format import Format

FORMATS = (
    Format(
        "megatron_sh",
        ("shell",),
        "architecture, layout, batch, devices, duration",
        "the vocabulary of an external tokenizer",
    ),
    Format("megatron_moe_zoo", ("yaml",), "architecture, batch", "the layout a launcher fills in"),
)
