"""The nearest known name to a mistyped one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LONG_ENOUGH = 3
"""Letters up to which a word begins too many names to mean one of them."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name that a mistyped one most likely means, or None.

    Parameters
    ----------
    word : what was written
    known : names that exist

    >>> nearest("tokns", ["tokens", "steps"])
    'tokens'
    >>> nearest("zebra", ["tokens", "steps"])
    """
    names = list(known)
    lower = {name.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(word.lower(), list(lower), n=1, cutoff=0.66)
    if close:
        return lower[close[0]]
    starts = [name for name in names if name.lower().startswith(word.lower()) or word.lower().startswith(name.lower())]
    return starts[0] if starts and len(word) > LONG_ENOUGH else None


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """A tip with the nearest name, or another tip where no name is near.

    A word that several names begin with is not settled by spelling: they are all listed, and a person chooses.

    >>> did_you_mean("tokns", ["tokens"], "see the docs")
    "did you mean 'tokens'?"
    >>> did_you_mean("nvidia/h100", ["nvidia/a10", "nvidia/h100-pcie-80gb", "nvidia/h100-sxm-80gb"], "see the docs")
    'choose one of nvidia/h100-pcie-80gb, nvidia/h100-sxm-80gb'
    """
    names = list(known)
    longer = sorted(name for name in names if len(word) > LONG_ENOUGH and name.lower().startswith(f"{word.lower()}-"))
    if longer:
        return f"choose one of {', '.join(longer)}" if len(longer) > 1 else f"did you mean {longer[0]!r}?"
    found = nearest(word, names)
    return f"did you mean {found!r}?" if found else otherwise
