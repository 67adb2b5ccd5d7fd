"""The `--flag value` pairs of a command line that a script would start, with lines."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

from etl.importers.shell.values import known

_OPTION = re.compile(r"--?[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a flag: values and line; `open` when its value is not known, `maybe` when its presence is not."""

    values: tuple[str, ...]
    line: int
    open: bool = False
    maybe: bool = False

    @property
    def first(self) -> str | None:
        """The first value, or None."""
        return None if self.open or not self.values else self.values[0]


class Flags:
    """Flags by name, written with hyphens; the last use counts, as in an argument parser."""

    def __init__(self, words: Iterable[tuple[str, int]], maybe: Iterable[str] = ()) -> None:
        self.uses: dict[str, Use] = {}
        self.positional: list[str] = []
        name, line = "", 0
        values: list[str] = []
        for word, at in _loose(words):
            if _OPTION.match(word):
                self._keep(name, line, values)
                name, _, value = word.partition("=")
                line, values = at, [value] if value else []
            else:
                values.append(word)
        self._keep(name, line, values)
        for name in set(maybe) - self.uses.keys():
            self.uses[name] = Use((), 0, open=True, maybe=True)

    def _keep(self, name: str, line: int, values: list[str]) -> None:
        clean = tuple(v.strip("\"'") for v in values)
        if not name:
            self.positional = list(clean)
            return
        key = name.lstrip("-").replace("_", "-")
        self.uses[key] = Use(clean, line, open=bool(clean) and not known(clean[0]))

    def __contains__(self, name: str) -> bool:
        return name in self.uses

    def certain(self) -> set[str]:
        """Names of the flags that are sure to be there."""
        return {name for name, use in self.uses.items() if not use.maybe}

    def get(self, *names: str) -> tuple[str | None, str, int]:
        """(value, flag, line) of the first of `names` with a known value; the value is None without one."""
        for name in names:
            use = self.uses.get(name)
            if use is not None and use.first is not None:
                return use.first, f"--{name}", use.line
        return None, "", 0

    def joined(self, name: str) -> str | None:
        """The values of a flag up to the first unknown one, as one text: a list that blanks took apart."""
        use = self.uses.get(name)
        return None if use is None or use.first is None else "".join(takewhile(known, use.values))

    def line(self, name: str) -> int | None:
        """The line of a flag."""
        use = self.uses.get(name)
        return use.line if use else None


def _loose(words: Iterable[tuple[str, int]]) -> Iterable[tuple[str, int]]:
    """Words, with an element such as "--fp8-format hybrid" taken apart."""
    for word, line in words:
        if word.lstrip().startswith("--") and " " in word.strip():
            yield from ((part, line) for part in word.split())
        else:
            yield word.strip() if word.isspace() or word.startswith(" ") else word, line
