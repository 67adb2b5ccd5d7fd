"""MaxText configs."""

from etl.importers.format import Format

FORMATS = (
    Format("maxtext_yaml", ("yaml",), "architecture; layout when a run file is given", "devices on free axes"),
    Format("maxtext_sh", ("shell",), "layout, batch, steps, with companions the architecture", "devices on free axes"),
)
