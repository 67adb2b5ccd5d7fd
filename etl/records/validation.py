"""What is valid: JSON Schema as `jsonschema` decides it, and the one format that it does not know."""

from __future__ import annotations

from datetime import date
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

FORMATS = FormatChecker(["date"])


@FORMATS.checks("calendar-date")
def is_in_the_calendar(text: object) -> bool:
    """Whether the day of a date exists; a month or a year always does.

    Parameters
    ----------
    text : what is written; anything but text is left to the other keywords

    Returns
    -------
    False for a day that no calendar has

    >>> is_in_the_calendar("2024-02-30"), is_in_the_calendar("2024-02"), is_in_the_calendar(2024)
    (False, True, True)
    """
    try:
        return not isinstance(text, str) or bool(date.fromisoformat(f"{text}-01-01"[:10]))
    except ValueError:
        return False


def compiled(rules: dict[str, Any]) -> Draft202012Validator:
    """A validator that can be used many times.

    Parameters
    ----------
    rules : a JSON Schema without references

    Returns
    -------
    the validator

    >>> [error.validator for error in compiled({"type": "integer", "minimum": 1}).iter_errors(0)]
    ['minimum']
    """
    return Draft202012Validator(rules, format_checker=FORMATS)
