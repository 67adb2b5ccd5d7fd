"""What a framework's folder says about each format that it reads."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True)
class Format:
    """One format: its module, the syntaxes of its files, the facts it reads, and those that its files never hold.

    `package` is filled in by the registry when it discovers the folder.
    """

    name: str
    kinds: tuple[str, ...]
    tells: str
    cannot: str
    package: str = ""

    def module(self) -> Any:
        """The module that reads the format, imported on first use: most commands need none or one of them."""
        return import_module(f"{self.package}.{self.name}")
