"""Two languages side by side: phrases as data, and the pair that a template prints."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml
from markupsafe import Markup, escape

LANGUAGES = ("en", "zh")


@dataclass(frozen=True)
class Bi:
    """One thing said twice: in English and in Chinese.

    >>> Bi("runs", "训练")["zh"]
    '训练'
    >>> str(Bi.same("<b>").__html__())
    '&lt;b&gt;'
    """

    en: str
    zh: str

    @classmethod
    def same(cls, text: str) -> Bi:
        """A name that is written alike in both languages."""
        return cls(text, text)

    def __getitem__(self, lang: str) -> str:
        return self.zh if lang == "zh" else self.en

    def __bool__(self) -> bool:
        return bool(self.en)

    def __html__(self) -> Markup:
        if self.en == self.zh:
            return escape(self.en)
        return Markup('<span lang="en">{}</span><span lang="zh-Hans">{}</span>').format(self.en, self.zh)

    def format(self, **values: Any) -> Bi:
        """Fill the places of both sentences; values that are pairs speak each sentence's language.

        Markup of ours stays markup, values are escaped.

        >>> Bi("{n} runs", "{n} 个训练").format(n=3)["zh"]
        '3 个训练'
        """
        filled = (_fill(self[lang], lang, values) for lang in LANGUAGES)
        return Bi(*filled)

    def marked(self) -> Bi:
        """The same pair, its text trusted as markup: for phrases of ours, before values are filled in."""
        return Bi(Markup(self.en), Markup(self.zh))  # noqa: S704


def _fill(text: str, lang: str, values: dict[str, Any]) -> str:
    return text.format(**{key: value[lang] if isinstance(value, Bi) else value for key, value in values.items()})


@cache
def plain(key: str) -> Bi:
    """The phrase under a dotted key of reports/text, as written; pictures take it like that.

    Raises
    ------
    KeyError
        When no such phrase is written.
    """
    node: Any = _texts()
    for part in key.split("."):
        if not isinstance(node, dict) or part not in node:
            raise KeyError(f"no phrase {key!r} in reports/text")
        node = node[part]
    return Bi(node["en"].strip(), node["zh"].strip())


def phrase(key: str, **values: Any) -> Bi:
    """The phrase as markup of ours, its places filled with escaped values."""
    return plain(key).marked().format(**values) if values else _marked(key)


def code(value: object) -> Bi:
    """A code of the database in words; the code itself where nobody has written any.

    >>> code("moe").zh, code("never-seen").en
    ('MoE', 'never-seen')
    """
    key = f"words.code.{value}"
    return plain(key) if has_phrase(key) else Bi.same(str(value))


@cache
def _marked(key: str) -> Bi:
    return plain(key).marked().format()


def has_phrase(key: str) -> bool:
    """Whether a phrase stands under the key."""
    try:
        plain(key)
    except KeyError:
        return False
    return True


@cache
def _texts() -> dict[str, Any]:
    """All phrases: the file's name is the first part of the key."""
    folder = resources.files("reports") / "text"
    files = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".yaml")), key=lambda entry: entry.name)
    return {entry.name.removesuffix(".yaml"): yaml.safe_load(entry.read_text(encoding="utf-8")) for entry in files}
