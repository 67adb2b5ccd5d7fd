"""Words of verdicts: a reason code and its values become one sentence, in English or Chinese.

The analysis writes code and values; the sentence is made here when a verdict is shown. Sentences and lists of words
are in reasons.yaml.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from string import Formatter
from typing import Any

from schemas.tables import table

Values = Mapping[str, Any]
LANGUAGES = ("en", "zh")
FULL_STOP = {"en": ".", "zh": "。"}
BRACKETS = {"en": (" (", ")"), "zh": ("（", "）")}
COMMA = {"en": ", ", "zh": "、"}
SEMICOLON = {"en": "; ", "zh": "；"}


@cache
def tables() -> dict[str, Any]:
    """The file's tables: verdicts, causes, facts, nouns, assumed, filled, rows, assumptions."""
    return dict(table("reasons"))


def sentence(check: str, reason: str, values: Values, language: str = "en") -> str:
    """The sentence of a verdict.

    >>> sentence("tp-inside-domain", "across", {"degree": 16, "domain": 8})
    'TP 16 crosses the scale-up domain of 8 accelerators.'
    >>> sentence("mfu-bound", "usual", {"name": "MFU", "share": 0.41}, "zh")
    '报告的 MFU 为 41%。'
    """
    verdicts = tables()["verdicts"]
    words = verdicts["unstated"].get(reason) or verdicts[check][reason]
    rests = _rests_on(values.get("rests_on", {}), language)
    return _Filled(language).vformat(words[language], (), values) + rests + FULL_STOP[language]


def row_sentence(code: str, values: Values, language: str = "en") -> str:
    """Why a layout cannot be computed, as part of a sentence.

    >>> row_sentence("unstated", {"field": "tp"})
    'tp is not stated'
    """
    return _Filled(language).vformat(tables()["rows"][code][language], (), values)


def assumption_sentence(code: str, values: Values, language: str = "en") -> str:
    """What the engine took as given where a row is silent, as part of a sentence.

    >>> assumption_sentence("flash", {})
    'attention_kernel is not stated (flash assumed)'
    """
    return _Filled(language).vformat(tables()["assumptions"][code][language], (), values)


def cause(code: str | None, language: str = "en") -> str | None:
    """The usual cause that a code names.

    >>> cause("factor-3")
    'a factor 3: 6ND against 2ND'
    """
    return None if code is None else str(tables()["causes"][code][language])


def cause_of(ratio: float, tolerance: float = 0.06) -> str | None:
    """Code of the usual cause of a mismatch by this factor, either way round.

    >>> cause_of(0.75), cause_of(1.1)
    ('factor-4-3', None)
    """
    factor = max(ratio, 1 / ratio)
    known = {code: words["factor"] for code, words in tables()["causes"].items() if "factor" in words}
    near = [(abs(factor / usual - 1), code) for code, usual in known.items()]
    return min(near)[1] if min(near)[0] <= tolerance else None


def count(value: float) -> str:
    """Counts whole with thousands separators, large physical values in scientific form.

    >>> count(16384), count(3.8e25), count(0.5)
    ('16,384', '3.8e25', '0.5')
    """
    if value != 0 and (abs(value) >= 1e9 or abs(value) < 1e-3):
        mantissa, exponent = f"{value:.3e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    if abs(value) >= 1000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def percent(value: float) -> str:
    """A fraction as a percentage with three digits at most.

    >>> percent(0.41), percent(3.68)
    ('41%', '368%')
    """
    return f"{100 * value:.3g}%"


def _degrees(degrees: Mapping[str, int], _: str) -> str:
    return " x ".join(f"{axis.upper()} {degree}" for axis, degree in degrees.items())


def _looked_up(table: str) -> Callable[[str, str], str]:
    def word(code: str, language: str) -> str:
        entry = tables()[table].get(code)
        return str(entry[language]) if entry else code

    return word


def _facts(names: list[str], language: str) -> str:
    word = _looked_up("facts")
    return COMMA[language].join(dict.fromkeys(word(name, language) for name in names))


def _divisions(rows: list[Mapping[str, Any]], language: str) -> str:
    word = _looked_up("nouns")
    return COMMA[language].join(
        f"{count(row['amount'])} {word(row['what'], language)} / {row['divisor']}" for row in rows
    )


def _filled(fields: Mapping[str, Any], language: str) -> str:
    if not fields:
        return ""
    return str(tables()["filled"][language]).format(fields=", ".join(f"{k} {v}" for k, v in fields.items()))


def _lacks(reasons: list[Mapping[str, Any]], language: str) -> str:
    return SEMICOLON[language].join(row_sentence(reason["code"], reason, language) for reason in reasons)


def _rests_on(bases: Mapping[str, str], language: str) -> str:
    """Which of the values are estimates or second-hand, in brackets."""
    words = [tables()["bases"][basis][language].format(field=name) for name, basis in bases.items()]
    left, right = BRACKETS[language]
    return f"{left}{COMMA[language].join(words)}{right}" if words else ""


KINDS: dict[str, Callable[[Any, str], str]] = {
    "count": lambda value, _: count(value),
    "percent": lambda value, _: percent(value),
    "degrees": _degrees,
    "facts": _facts,
    "nouns": _looked_up("nouns"),
    "assumed": _looked_up("assumed"),
    "divisions": _divisions,
    "filled": _filled,
    "lacks": _lacks,
}


class _Filled(Formatter):
    """Fills a sentence; a kind of this module outranks Python's own format specifications."""

    def __init__(self, language: str) -> None:
        self.language = language

    def format_field(self, value: Any, format_spec: str) -> Any:
        kind = KINDS.get(format_spec)
        return kind(value, self.language) if kind else super().format_field(value, format_spec)
