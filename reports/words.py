"""Two languages side by side: phrases as data, and the pair that a template prints."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
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

        >>> Bi("{n} runs", "{n} 次训练").format(n=3)["zh"]
        '3 次训练'
        """
        filled = (_fill(self[lang], lang, values) for lang in LANGUAGES)
        return Bi(*filled)

    def marked(self) -> Bi:
        """The same pair, its text trusted as markup: for phrases of ours, before values are filled in."""
        return Bi(Markup(self.en), Markup(self.zh))  # noqa: S704


def sentences(*pairs: Bi, mark: Bi | None = None) -> Bi:
    """Sentences after one another, each language with its own gap; markup stays markup.

    >>> sentences(Bi("One.", "一。"), Bi("Two.", "二。")).zh
    Markup('一。二。')
    """
    gap = mark or Bi(" ", "")
    return Bi(*(escape(gap[lang]).join(pair[lang] for pair in pairs) for lang in LANGUAGES))


def _fill(text: str, lang: str, values: dict[str, Any]) -> str:
    return text.format(**{key: value[lang] if isinstance(value, Bi) else value for key, value in values.items()})


@cache
def plain(key: str) -> Bi:
    """The phrase under a dotted key of the text files, as written; pictures take it like that.

    Raises
    ------
    KeyError
        When no such phrase is written.
    """
    node: Any = _texts()
    for part in key.split("."):
        if not isinstance(node, dict) or part not in node:
            raise KeyError(f"no phrase {key!r} in the text files of reports/")
        node = node[part]
    return Bi(node["en"].strip(), node["zh"].strip())


def phrase(key: str, **values: Any) -> Bi:
    """The phrase as markup of ours, its places filled with escaped values."""
    return plain(key).marked().format(**values) if values else _marked(key)


def code(value: object) -> Bi:
    """A code of the database in words; the code itself where no words exist.

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
    """All phrases: the first part of the key is the file of reports/page/text, or the figure's folder."""
    return {name: yaml.safe_load(file.read_text(encoding="utf-8")) for name, file in text_files().items()}


def text_files() -> dict[str, Traversable]:
    """Every file of phrases by the first part of its keys."""
    root = resources.files("reports")
    pages = {file.name.removesuffix(".yaml"): file for file in (root / "page" / "text").iterdir()}
    folders = [folder for folder in (root / "story").iterdir() if folder.is_dir()]
    figures = {folder.name: folder / "text.yaml" for folder in folders if (folder / "text.yaml").is_file()}
    return dict(sorted((pages | figures).items()))
