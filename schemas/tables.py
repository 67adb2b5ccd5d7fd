"""Reads a YAML table that lies beside the readers and ships with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent


def table(name: str) -> Any:
    """Contents of `schemas/<name>.yaml`.

    Parameters
    ----------
    name : file name without its ending

    Returns
    -------
    mappings, lists, texts and numbers

    >>> sorted(table("units"))
    ['suffixes', 'units']
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load((FOLDER / f"{name}.yaml").read_text("utf-8"), Loader=loader)  # noqa: S506  (both are safe loaders)
