"""Names that a person types: part of an id, a name or an alias, in any spelling, to the one id that is meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from schemas.nearest import nearest
from schemas.refusal import RefusalError

MOST_SHOWN = 12
"""Choices that a refusal lists; the rest is counted."""


def parts(text: str) -> list[str]:
    """The words of a name, in lower case; a dot belongs to its number.

    >>> parts("DeepSeek V3.2"), parts("meta/llama-3.1-70b")
    (['deepseek', 'v3.2'], ['meta', 'llama', '3.1', '70b'])
    """
    return re.findall(r"[a-z0-9.]+", text.lower())


def matching(words: str, known: Mapping[str, Iterable[str]]) -> list[str]:
    """Ids of which every typed word is part of some word of the id, a name or an alias; all ids without words.

    Parameters
    ----------
    words
        What a person typed.
    known
        Other names by id.

    >>> matching("llama 70b", {"meta/llama-2-70b": [], "meta/llama-2-7b": [], "mosaic/mpt": ["Llama-like 70B"]})
    ['meta/llama-2-70b', 'mosaic/mpt']
    """
    typed = parts(words)
    return [
        name
        for name, others in known.items()
        if all(any(_fits(word, text) for text in _all(name, others)) for word in typed)
    ]


def _fits(word: str, text: str) -> bool:
    """Whether a typed word is part of a word of a name; a single letter has to be all of it."""
    return word == text or (len(word) > 1 and word in text)


def _all(name: str, others: Iterable[str]) -> list[str]:
    return [word for text in (name, *others) for word in parts(text)]


def resolve(words: str, known: Mapping[str, Iterable[str]], kind: str) -> str:
    """The one id that is meant.

    Parameters
    ----------
    words
        An id, or words of it.
    known
        Other names (name, aliases, who made it) by id.
    kind
        What the ids are, for the sentence.

    Raises
    ------
    RefusalError
        None or several fit; the sentence lists the choices.

    >>> ids = {"nvidia/h800-sxm-80gb": [], "deepseek/deepseek-v3": [], "deepseek/deepseek-v3.2": []}
    >>> resolve("H800", ids, "accelerator"), resolve("deepseek v3", ids, "model")
    ('nvidia/h800-sxm-80gb', 'deepseek/deepseek-v3')
    """
    if words in known:
        return words
    fitting = matching(words, known) if parts(words) else []
    exact = _exactly(words, fitting, known)
    if len(exact) == 1:
        return exact[0]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        more = f" and {len(fitting) - MOST_SHOWN} more" if len(fitting) > MOST_SHOWN else ""
        shown = ", ".join(sorted(fitting, key=lambda name: (len(name), name))[:MOST_SHOWN])
        raise RefusalError(f"{words!r} fits {len(fitting)} records; choose one of {shown}{more}")
    tails = {name.rpartition("/")[2]: name for name in reversed(list(known))}
    meant = nearest(words, known) or tails.get(nearest(words.rpartition("/")[2], tails) or "")
    tip = f"did you mean {meant}?" if meant else f"find it with: shardbook list {kind}s"
    raise RefusalError(f"there is no {kind} {words!r}; {tip}")


def _exactly(words: str, fitting: list[str], known: Mapping[str, Iterable[str]]) -> list[str]:
    """Those whose own name, with or without its folder, or an alias is just the typed words."""
    typed = set(parts(words))

    def is_it(name: str) -> bool:
        texts = (name, name.rpartition("/")[2], *known[name])
        return any(set(parts(text)) == typed for text in texts)

    return [name for name in fitting if is_it(name)]
