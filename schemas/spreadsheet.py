"""Text that a spreadsheet would run as a formula."""

from __future__ import annotations

import re

FORMULA = re.compile(r"[=+\-@\t\r]")
"""A cell that begins with one of these is a formula to Excel, LibreOffice and Google Sheets (OWASP, CSV injection)."""


def safe(text: str) -> str:
    """Text as a CSV cell that no spreadsheet runs: an apostrophe before what would start a formula.

    Parameters
    ----------
    text : the text of a cell, never a number

    Returns
    -------
    the text, or the text behind an apostrophe

    >>> safe("=1+1"), safe("Acme")
    ("'=1+1", 'Acme')
    """
    return f"'{text}" if FORMULA.match(text) else text


def safe_sql(column: str) -> str:
    """The same as an expression of DuckDB, for files that it writes itself.

    Parameters
    ----------
    column : a quoted column of type VARCHAR

    Returns
    -------
    an SQL expression

    >>> safe_sql("name")
    "case when regexp_matches(name, '^[=+\\\\-@\\\\t\\\\r]') then chr(39) || name else name end"
    """
    return f"case when regexp_matches({column}, '^{FORMULA.pattern}') then chr(39) || {column} else {column} end"
