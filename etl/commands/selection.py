"""Which records a command was asked to look at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Selection:
    """Files and folders below `data/`, as findings name them. Empty means everything."""

    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: Path, where: Iterable[Path]) -> Selection:
        """Make a selection from paths as typed.

        Parameters
        ----------
        data : the `data/` folder
        where : files or folders, or ids such as `runs/meta/llama-3.1-405b`

        Returns
        -------
        the selection

        Raises
        ------
        ValueError : a path does not exist or lies outside `data/`; the sentence says which
        """
        return cls(tuple(_name(data, path) for path in where))

    def holds(self, name: str) -> bool:
        """Whether a file is selected.

        >>> Selection(("data/runs/meta",)).holds("data/runs/meta/llama-3.1-405b.yaml")
        True
        >>> Selection(("data/runs/meta",)).holds("data/runs/meta-x/y.yaml")
        False
        """
        # A table of rows belongs to the record beside it.
        name = f"{name.removesuffix('.csv')}.yaml" if name.endswith(".csv") else name
        return not self.names or any(name == one or one == "." or name.startswith(f"{one}/") for one in self.names)


def _name(data: Path, path: Path) -> str:
    base = data.resolve()
    for place in (path, data / path, data / f"{path}.yaml", data / "runs" / f"{path}.yaml"):
        # A link is named by where it stands, not by where it leads.
        full = place.parent.resolve() / place.name
        if place.exists() or place.is_symlink():
            if full.resolve() == base.parent or full.resolve() == base:
                return base.name
            if base not in full.parents:
                raise ValueError(f"{path} lies outside {data.name}/; only records are checked")
            return (Path(base.name) / full.relative_to(base)).as_posix()
    raise ValueError(f"{path} does not exist; give a file or folder below {data.name}/")
