"""The sentence and the corrected line for a value that does not fit its schema."""

from __future__ import annotations

import re
from typing import Any

from etl.records.schema import Shape
from etl.yaml.nodes import number

WANTED = {
    "number": "a number",
    "integer": "a whole number",
    "string": "text",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping of keys to values",
}
UNKNOWN = frozenset(
    {"unknown", "n/a", "na", "none", "null", "-", "?", "tbd", "tba", "not disclosed", "undisclosed", "nan"}
)
FLAGS = {
    "yes": "true",
    "on": "true",
    "y": "true",
    "no": "false",
    "off": "false",
    "n": "false",
    "true": "true",
    "false": "false",
}
_LETTERS = {"k": 3, "m": 6, "b": 9, "t": 12, "mn": 6, "bn": 9, "tn": 12, "g": 9, "p": 15}
SCALES = _LETTERS | {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
FORMS = {
    "date": "a date like 2024-07-23, 2024-07 or 2024",
    "slug": "lower-case letters, digits, '.' and '-'",
    "id2": "an id like nvidia/h100-sxm-80gb",
    "url": "a link that starts with https://",
    "citation": "'<source key> <locator>', as in  paper Table 4",
    "text": "one line of text without spaces at its ends",
}


def guideline(shape: Shape) -> str:
    """How to fill a field: its description, its unit, its choices and its guidelines, in one line.

    >>> guideline(Shape("seq_len", description="Training sequence length.", unit="tokens"))
    'Training sequence length. Unit: tokens.'
    >>> guideline(Shape("released", base="date", description="First release."))
    'First release. Written 2024-07-23, 2024-07 or 2024.'
    """
    if shape.base == "citation":
        return "'<source key> <page, table, section or line>', as in  paper Table 4"
    parts = [shape.description]
    if shape.base == "date":
        parts.append("Written 2024-07-23, 2024-07 or 2024.")
    if shape.unit:
        parts.append(f"Unit: {shape.unit}.")
    if shape.enum:
        parts.append("One of " + ", ".join(str(one) for one in shape.enum) + ".")
    if shape.properties:
        parts.append("Keys: " + ", ".join(shape.properties) + ".")
    return " ".join(part for part in (*parts, *shape.guidelines) if part) or shape.label


def wrong_type(value: Any, shape: Shape) -> tuple[str, str]:
    """Sentence and tip for a value of the wrong type.

    >>> wrong_type("1_000", Shape("tp", types=("integer",)))
    ("tp is the text '1_000', where a whole number is wanted", 'write  tp: 1000')
    """
    types = shape.types or tuple(one for choice in shape.choices for one in choice.types)
    wanted = "a number or a range" if shape.is_quantity else " or ".join(WANTED[one] for one in types)
    wanted = FORMS["date"] if shape.base == "date" else wanted
    message = f"{shape.name} is {_shown(value)}, where {wanted} is wanted"
    if isinstance(value, str) and {"number", "integer"} & set(types):
        return message, _number_tip(value, shape, wanted)
    if isinstance(value, str) and "boolean" in types:
        return message, f"write  {shape.name}: {FLAGS.get(value.lower(), 'true, or false')}"
    if isinstance(value, bool | int | float) and "string" in types:
        return (
            message,
            f'write it in quotes: {shape.name}: "{str(value).lower() if isinstance(value, bool) else value}"',
        )
    if isinstance(value, float) and types == ("integer",):
        return message, "write the whole number that the source prints, or delete the line"
    if "array" in types and not isinstance(value, dict):
        return message, f"write  {shape.name}: [{value}]"
    return message, guideline(shape)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    return "empty" if value is None else f"the number {value}"


def _number_tip(text: str, shape: Shape, wanted: str) -> str:
    if text.strip().lower() in UNKNOWN:
        return "delete the line: a value not printed stays absent; what the authors withhold goes to not_disclosed"
    binary = re.fullmatch(r"(\d+)\s*([kKmM])i?", text.strip())
    if binary and shape.name in {"seq_len", "global_batch_tokens"}:
        step = 1 if binary[2] in "kK" else 2
        decimal, power = int(binary[1]) * 1000**step, int(binary[1]) * 1024**step
        return f"write {decimal} or {power}, whichever the source means by {text.strip()}"
    spelled = spell(text)
    if spelled is not None:
        return f"write  {shape.name}: {spelled}"
    joined = re.fullmatch(r"([\d.,_eE+-]*\d)\s*([A-Za-z/]+)", text.strip())
    if joined and spell(joined[1]) is not None:
        counted = shape.unit or "a plain number"
        same = joined[2].lower() == counted.lower()
        return f"write  {shape.name}: {spell(joined[1])}" + ("" if same else f"   if {joined[2]} means {counted}")
    ends = [spell(end) for end in re.split(r"\s*(?:-|–|to|\.\.)\s*", text)]
    if shape.is_quantity and len(ends) == 2 and None not in ends:
        return f"write  {shape.name}: {{low: {ends[0]}, high: {ends[1]}}}"
    return f"write {wanted} as the source prints it, without its unit; the field's unit is {shape.unit or 'a count'}"


def spell(text: str) -> str | None:
    """The number that a text means, in the spelling that records use; None where it means none.

    >>> spell("1_000"), spell("010"), spell("15.6T"), spell("4bn"), spell("80%"), spell(".5"), spell("16:8")
    ('1000', '10', '15.6e12', '4e9', '0.8', '0.5', None)
    """
    bare = re.sub(r"(?<=\d)[_,](?=\d)", "", text.strip()).lstrip("+~≈")
    match = re.fullmatch(r"(-?)0*(\d*\.?\d*(?:[eE][-+]?\d+)?)\s*(%|[A-Za-z]*)", bare)
    if not match or not re.search(r"\d", bare):
        return None
    sign, digits, scale = match.groups()
    digits = "0" + digits if not digits or digits[0] in ".eE" else digits
    digits = digits.rstrip(".")
    if isinstance(number(digits), str):
        return None
    if scale == "%":
        return f"{sign}{float(digits) / 100:g}"
    if scale and (scale.lower() not in SCALES or "e" in digits.lower()):
        return None
    return f"{sign}{digits}e{SCALES[scale.lower()]}" if scale else sign + digits


def wrong_form(value: str, shape: Shape, cited: bool = False) -> tuple[str, str]:
    """Sentence and tip for a text of the wrong form.

    >>> wrong_form("2024/7/3", Shape("released", base="date"))
    ("released is '2024/7/3', which is not a date like 2024-07-23, 2024-07 or 2024", 'write  released: 2024-07-03')
    """
    base = "citation" if cited else shape.base or "text"
    message = f"{shape.name} is {value[:60]!r}, which is not {FORMS.get(base, 'of the form ' + _pattern(shape))}"
    return message, f"write  {shape.name}: {_better(value, base)}"


def _pattern(shape: Shape) -> str:
    return shape.pattern.pattern if shape.pattern else "wanted"


DATE_TIP = "the date that the source prints, as YYYY-MM-DD"


def _better(value: str, base: str) -> str:
    if base == "date":
        named = re.search(r"(?i)\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b", value)
        year = re.search(r"\b(?:19|20)\d\d\b", value)
        if named and year:
            month = f"{year[0]}-{MONTHS.index(named[1].lower()) + 1:02d}"
            day = re.search(r"(?<!\d)(\d{1,2})(?:st|nd|rd|th)?\b(?!\d)", value.replace(year[0], ""))
            return f"{month}-{int(day[1]):02d}" if day else month
        parts = re.findall(r"\d+", value)
        stamp = re.match(r"\s*(\d{4}-\d\d-\d\d)[T ]", value)
        if stamp:
            return stamp[1]
        year_first = bool(parts) and len(parts[0]) == 4 and len(parts) <= 3
        return "-".join([parts[0], *(part.zfill(2) for part in parts[1:])]) if year_first else DATE_TIP
    if base == "id2" and "/" not in value:
        return f"FOLDER/NAME, as below data/; find it with: shardbook list {slug(value)}"
    if base in {"slug", "id2"}:
        return "/".join(slug(part) for part in value.split("/"))
    if base == "url":
        return re.sub(r"^(?:https?://)?", "https://", "".join(value.split()))
    if base == "citation" and ":" in value.split(" ")[0]:
        return "<source key> <locator>, with the link under sources"
    if base == "citation":
        key, _, locator = value.strip().partition(" ")
        return f"{slug(key)} {locator}".strip()
    return " ".join(value.split()) or "..."


def slug(text: str) -> str:
    """Lower-case letters, digits, dots and dashes.

    >>> slug("The Paper_2")
    'the-paper-2'
    """
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.") or "..."


def out_of_range(value: float, shape: Shape) -> str:
    """A way out for a number outside its range.

    >>> out_of_range(41, Shape("mfu", rules={"maximum": 1}))
    'write a fraction: mfu: 0.41'
    """
    if shape.rules.get("maximum") == 1 and 10 <= value <= 100:
        return f"write a fraction: {shape.name}: {value / 100:g}"
    if value < 0:
        return "write it without the minus sign, or delete the line"
    if value == 0:
        return "delete the line where the number is not known: 0 is a claim"
    return guideline(shape)
