"""The known name that is nearest to a mistyped one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

SIMILAR = 0.6
"""Share of letters (difflib's ratio) from which two names count as similar; difflib's own default."""

SHORTEST = 4
"""Fewer letters than this begin too many names to complete them."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name that a mistyped one most likely means.

    Parameters
    ----------
    word : what was written
    known : names that exist

    Returns
    -------
    the most similar name, else one that begins like the word, else None

    >>> nearest("tokns", ["tokens", "steps"])
    'tokens'
    >>> nearest("zebra", ["tokens", "steps"])
    """
    names = list(known)
    lower = {name.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(word.lower(), list(lower), n=1, cutoff=SIMILAR)
    if close:
        return lower[close[0]]
    starts = [name for name in names if name.lower().startswith(word.lower()) or word.lower().startswith(name.lower())]
    return starts[0] if starts and len(word) >= SHORTEST else None


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """A tip with the nearest name, or another tip where no name is near.

    A word that several names begin with is not settled by spelling: they are all listed, and a person chooses.

    Parameters
    ----------
    word : what was written
    known : names that exist
    otherwise : the tip where none is near

    Returns
    -------
    the tip

    >>> did_you_mean("tokns", ["tokens"], "see the docs")
    "did you mean 'tokens'?"
    >>> did_you_mean("nvidia/h100", ["nvidia/a10", "nvidia/h100-pcie-80gb", "nvidia/h100-sxm-80gb"], "see the docs")
    'choose one of nvidia/h100-pcie-80gb, nvidia/h100-sxm-80gb'
    """
    names = list(known)
    beginnings = tuple(f"{word.lower()}{mark}" for mark in "-_")
    longer = sorted(name for name in names if len(word) >= SHORTEST and name.lower().startswith(beginnings))
    if longer:
        return f"choose one of {', '.join(longer)}" if len(longer) > 1 else f"did you mean {longer[0]!r}?"
    close = nearest(word, names)
    return f"did you mean {close!r}?" if close else otherwise
