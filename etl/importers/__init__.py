"""Readers of published training configs and logs: text in, facts with origin out. Nothing read is ever executed."""

from etl.importers.facts import Fact, Reading
from etl.importers.formats_list import read_files
from etl.importers.problems import ImporterError

__all__ = ["Fact", "ImporterError", "Reading", "read_files"]
