"""Characters that a reader cannot see or would take for others, in any text of a record, and links that mislead."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from etl.checks.registry import check
from etl.checks.subject import Subject
from etl.checks.twins import texts
from etl.yaml.findings import Finding
from etl.yaml.nodes import Path

HIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\uf8ff\ufeff\uffa0\ufff0-\uffff\U000e0000-\U0010ffff]"
)
"""Control and format characters, fillers, private use and surrogates (Unicode categories Cc, Cf, Co, Cs, Zl, Zp)."""

LOOKALIKES = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU")
"""Scripts with letters that look like Latin ones (Unicode confusables, UTS 39)."""

WORD = re.compile(r"[^\W\d_]{2,}")


def _strings(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every text of a record, keys included, with its place."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, below in value.items():
            yield (*path, key), str(key)
            yield from _strings(below, (*path, key))
    elif isinstance(value, list):
        for number, below in enumerate(value):
            yield from _strings(below, (*path, number))


@check("NAM007", "hidden-character")
def hidden_character(subject: Subject) -> Iterator[Finding]:
    """No text holds characters that are not seen: control, zero-width, direction, tag and private-use characters."""
    for path, text in _strings(subject.record.value):
        hidden = HIDDEN.search(text)
        if hidden:
            name = unicodedata.name(hidden[0], "a control or private-use character").lower()
            message = f"the text holds U+{ord(hidden[0]):04X} ({name}) after {text[: hidden.start()][-20:]!r}"
            yield subject.at(path, message, "delete the character, or type the text anew")


@check("NAM008", "mixed-scripts")
def mixed_scripts(subject: Subject) -> Iterator[Finding]:
    """A word of a name is in one script: a Cyrillic or Greek letter among Latin ones looks like another name."""
    for path, text in texts(subject.value):
        for word in WORD.findall(text):
            odd = odd_letter(word)
            if odd:
                message = f"{word!r} mixes scripts: U+{ord(odd):04X} is {unicodedata.name(odd).lower()}"
                yield subject.at(path, message, "type the name anew in one script")


def odd_letter(word: str) -> str | None:
    """The letter of another script in a word of Latin letters.

    Parameters
    ----------
    word : letters

    Returns
    -------
    the letter; None where the word has one script

    >>> odd_letter("Llama"), odd_letter("Llаma") == chr(0x430), odd_letter("модель")
    (None, True, None)
    """
    names = {letter: unicodedata.name(letter, "") for letter in word}
    latin = any(name.startswith("LATIN") for name in names.values())
    return next((one for one, name in names.items() if latin and name.startswith(LOOKALIKES)), None)


@check("SRC010", "misleading-link")
def misleading_link(subject: Subject) -> Iterator[Finding]:
    """A link goes where it seems to go: no user before an @, a host in plain ASCII letters, no port."""
    for path, text in _strings(subject.value):
        if path[-1:] == ("url",) and text.startswith("https://"):
            why = misleads(text)
            if why:
                yield subject.at(path, f"the link {why}", "write the address as the publisher gives it")


def misleads(link: str) -> str | None:
    """Why a link may go elsewhere than a reader expects.

    Parameters
    ----------
    link : starts with https://

    Returns
    -------
    the rest of a sentence; None where nothing is wrong

    >>> misleads("https://arxiv.org@evil.example/abs/1"), misleads("https://arxiv.org/abs/1@v2")
    ('has a user name before its host evil.example', None)
    """
    try:
        parts = urlsplit(link)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "cannot be read as an address"
    if "@" in parts.netloc:
        return f"has a user name before its host {host}"
    if not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", host):
        return f"has the host {host!r}, which is not a name in plain letters"
    if host.startswith("xn--") or ".xn--" in host:
        return f"has the host {host!r}, which stands for letters outside ASCII"
    return None if port is None else f"names the port {port}"
