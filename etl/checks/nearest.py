"""The nearest known name to a mistyped one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name that a mistyped one most likely means, or None.

    Parameters
    ----------
    word : what was written
    known : names that exist

    >>> nearest("tokns", ["tokens", "steps"])
    'tokens'
    >>> nearest("nvidia/h100", ["nvidia/h100-sxm-80gb", "amd/mi300x"])
    'nvidia/h100-sxm-80gb'
    >>> nearest("zebra", ["tokens", "steps"])
    """
    names = list(known)
    lower = {name.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(word.lower(), list(lower), n=1, cutoff=0.66)
    if close:
        return lower[close[0]]
    starts = [name for name in names if name.lower().startswith(word.lower()) or word.lower().startswith(name.lower())]
    return starts[0] if starts and len(word) > 3 else None


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """A tip with the nearest name, or another tip where no name is near.

    >>> did_you_mean("tokns", ["tokens"], "see the docs")
    "did you mean 'tokens'?"
    """
    found = nearest(word, known)
    return f"did you mean {found!r}?" if found else otherwise
