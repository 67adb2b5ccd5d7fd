"""What a chart may say: phrases and field titles in one language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reports.source import Fields
from reports.words import code, plain


@dataclass(frozen=True)
class ChartWords:
    """Speaks one language to a chart."""

    lang: str
    fields: Fields

    def __call__(self, key: str, **values: Any) -> str:
        """A phrase with its places filled, as plain text."""
        return plain(key).format(**values)[self.lang]

    def axis(self, column: str) -> str:
        """Title and unit of a column."""
        return self.fields.axis(column)[self.lang]

    def title(self, column: str) -> str:
        """Title of a column."""
        return self.fields.title(column)[self.lang]

    def code(self, value: str) -> str:
        """A code of the database in words."""
        return code(value)[self.lang]

    def own(self, column: str) -> str:
        """The name of the frame's column that holds this language's words: status -> status_zh."""
        return f"{column}_{self.lang}"
