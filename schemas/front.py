"""What the front door hands to the commands of the three packages, which never import one another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class Constants(Protocol):
    """The engine's calibration in the checkout."""

    def read(self) -> dict[str, Any]:
        """Nested constants by subject."""

    def write(self, subjects: Mapping[str, dict[str, Any]]) -> Path:
        """Replace the constants of some subjects; returns their folder."""

    def publish(self, account: str) -> Path:
        """Put the account of a fit into the methodology; returns the page."""


@dataclass(frozen=True)
class Front:
    """The object of the command context.

    Attributes
    ----------
    assess : fills the result tables of an open database
    assess_file : the same for a database file, trends and claims included
    records : opens an in-memory database with the records of some kinds (of some of them one id alone)
    architecture : reads a published config into architecture facts
    layout : reads the layout that a launch script, config or log states, by column; empty where it states none
    constants : the engine's calibration
    """

    assess: Callable[[DuckDBPyConnection], None]
    records: Callable[[Sequence[str], Mapping[str, str]], DuckDBPyConnection]
    architecture: Callable[[Path], dict[str, Any]]
    layout: Callable[[Path], dict[str, Any]]
    constants: Constants
    assess_file: Callable[[Path], object]
