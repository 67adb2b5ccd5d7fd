"""PaddleFormers configs."""

from etl.importers.format import Format

FORMATS = (
    Format(
        "paddle",
        ("json", "yaml"),
        "layout, batch, steps",
        "the architecture without the model's own config; devices without both data degrees",
    ),
)
