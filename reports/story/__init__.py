"""The story of the narrative page: chapters in order, each figure in a folder of its own.

A figure's folder holds `section.py` with `figures(source)`, its queries, `text.yaml` in both languages and, where it
draws, `chart.py`. The folder that opens a chapter also has `chapter(source)`: heading, paragraphs and conclusion.
`order.yaml` lists the chapters and their folders; a folder that is missing there fails a test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module, resources
from typing import Any

import yaml

from reports.drawing.figure import Section
from reports.source import Source


@cache
def order() -> list[list[str]]:
    """Folders of each chapter; the first one opens it."""
    text = (resources.files(__name__) / "order.yaml").read_text(encoding="utf-8")
    return [list(folders) for folders in yaml.safe_load(text)]


def chapters(source: Source) -> Iterator[Section]:
    """Every chapter with its figures, in the order of the story."""
    for folders in order():
        modules = [_module(folder) for folder in folders]
        opened: Section = modules[0].chapter(source)
        yield replace(opened, figures=tuple(figure for module in modules for figure in module.figures(source)))


def _module(folder: str) -> Any:
    return import_module(f"{__name__}.{folder}.section")
