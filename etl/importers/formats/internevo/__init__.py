"""InternEvo configs."""

from etl.importers.format import Format

FORMATS = (Format("internevo_py", ("python",), "architecture, layout, batch, steps", "devices"),)
