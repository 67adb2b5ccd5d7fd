"""Readers of published training configs and logs: text in, facts with origin out. Nothing read is ever executed."""

from etl.importers.facts import Fact, Reading
from etl.importers.problems import ImporterError
from etl.importers.registry import read_files

__all__ = ["Fact", "ImporterError", "Reading", "read_files"]
