"""Utilisation, dense against MoE: at a glance, under every definition, and run by run."""

from __future__ import annotations

from reports.figure import Section
from reports.sections import definitions, mfu
from reports.source import Source
from reports.words import phrase


def section(source: Source) -> Section:
    """Is the gap between dense and MoE real once hardware and definition are held apart?"""
    frame = source.query("mfu")
    if frame.empty:
        return Section("mfu", phrase("mfu.heading"), (phrase("mfu.empty"),))
    figures = (mfu.strip(source, frame), definitions.figure(source), mfu.dots(source, frame))
    shown = tuple(figure for figure in figures if figure)
    return Section("mfu", phrase("mfu.heading"), (phrase("mfu.lead"),), shown)
