"""Kubernetes jobs around a training command."""

from etl.importers.format import Format

FORMATS = (
    Format(
        "kubernetes_yaml", ("yaml",), "devices, and what the command inside is read as", "what only the image knows"
    ),
)
