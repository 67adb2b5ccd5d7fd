"""metaseq configs."""

from etl.importers.format import Format

FORMATS = (Format("metaseq_py", ("python",), "architecture, batch in tokens", "devices"),)
