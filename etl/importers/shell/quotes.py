"""Read one word of a shell text with its quotes and expansions; nothing is expanded."""

import re
from bisect import bisect_right
from collections.abc import Callable

from etl.importers.problems import ImporterError
from etl.importers.shell.nodes import Arith, Lit, Param, Part, Substitution, Word

MOST_WORDS = 100_000
PLAIN = re.compile(r"[^\\'\"$`\s;&|()<>]+")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_IN_QUOTES = re.compile(r"[^\\\"$`]+")


def line_counter(text: str, first: int = 1) -> Callable[[int], int]:
    """A function from offset to line number."""
    starts = [m.end() for m in re.finditer("\n", text)]
    return lambda offset: first + bisect_right(starts, offset)


class Quotes:
    """A cursor over a text that reads words."""

    def __init__(self, text: str, line_of: Callable[[int], int]) -> None:
        self.text, self.line_of, self.at = text, line_of, 0
        self.count = 0

    def line(self) -> int:
        """The line of the cursor."""
        return self.line_of(self.at)

    def done(self) -> bool:
        """Whether the text is used up."""
        return self.at >= len(self.text)

    def starts(self, sign: str) -> bool:
        """Whether `sign` stands at the cursor."""
        return self.text.startswith(sign, self.at)

    def word(self) -> Word | None:
        """One word at the cursor, or None where none starts."""
        parts: list[Part] = []
        start = self.at
        while not self.done():
            sign = self.text[self.at]
            if sign == "\\":
                self._escape(parts)
            elif sign == "'":
                parts += self._single()
            elif sign == '"':
                self.at += 1
                parts += self.quoted_text('"')
            elif sign == "$":
                parts += self.dollar(False)
            elif sign == "`":
                parts.append(self._backtick())
            elif sign in "<>" and self.text[self.at + 1 : self.at + 2] == "(":
                parts.append(Substitution(self.balanced(2, "(", ")"), self.line()))
            elif match := PLAIN.match(self.text, self.at):
                parts.append(Lit(match.group(), self.line()))
                self.at = match.end()
            else:
                break
        self._count()
        return tuple(parts) if self.at > start else None

    def _count(self) -> None:
        self.count += 1
        if self.count > MOST_WORDS:
            raise ImporterError(f"the script holds more than {MOST_WORDS} words; no launch script does")

    def _escape(self, parts: list[Part]) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following != "\n":
            parts.append(Lit(following, self.line(), quoted=True))
        self.at += 2

    def _single(self) -> list[Part]:
        start = self.at + 1
        end = self.text.find("'", start)
        end = len(self.text) if end < 0 else end
        self.at = end + 1
        return self._literal(self.text[start:end], start)

    def _literal(self, text: str, start: int) -> list[Part]:
        """Quoted text as one piece per line."""
        parts: list[Part] = []
        for piece in text.splitlines(keepends=True) or [""]:
            parts.append(Lit(piece, self.line_of(start), quoted=True))
            start += len(piece)
        return parts

    def quoted_text(self, close: str) -> list[Part]:
        """Text up to an unescaped `close` (or to the end), with the expansions of double quotes."""
        parts: list[Part] = [Lit("", self.line(), quoted=True)]
        while not self.done():
            sign = self.text[self.at]
            if close and sign == close:
                self.at += 1
                break
            if sign == "\\":
                self._quoted_escape(parts)
            elif sign == "$":
                parts += self.dollar(True)
            elif sign == "`":
                parts.append(self._backtick())
            else:
                match = _IN_QUOTES.match(self.text, self.at)
                text = match.group() if match else sign
                parts += self._literal(text, self.at)
                self.at += len(text)
        return parts

    def _quoted_escape(self, parts: list[Part]) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following == "\n":
            parts.append(Lit("", self.line(), quoted=True))
        else:
            kept = following if following in {"$", "`", '"', "\\"} else "\\" + following
            parts.append(Lit(kept, self.line(), quoted=True))
        self.at += 2

    def _backtick(self) -> Part:
        line, start = self.line(), self.at + 1
        end = self.text.find("`", start)
        end = len(self.text) if end < 0 else end
        self.at = end + 1
        return Substitution(self.text[start:end], line)

    def dollar(self, quoted: bool) -> list[Part]:
        """What a dollar sign starts."""
        line, after = self.line(), self.text[self.at + 1 : self.at + 2]
        if self.starts("$(("):
            return [Arith(self.balanced(3, "(", ")")[:-1], line)]
        if after == "(":
            return [Substitution(self.balanced(2, "(", ")"), line)]
        if after == "{":
            return [Param(self.balanced(2, "{", "}"), line, quoted)]
        if after in {"'", '"'} and not quoted:
            self.at += 1
            return self._single() if after == "'" else []
        match = _NAME.match(self.text, self.at + 1)
        if match is None:
            self.at += 1
            return [Lit("$", line, quoted)]
        self.at = match.end()
        return [Param(match.group(), line, quoted)]

    def balanced(self, skip: int, opening: str, closing: str) -> str:
        """The text after `skip` characters up to the matching closing sign, quotes and escapes respected."""
        start, quote = self.at + skip, ""
        depth = 2 if self.text[start - 2 : start] == "((" else 1
        at = start
        while at < len(self.text):
            sign = self.text[at]
            if sign == "\\" and quote != "'":
                at += 1
            elif quote:
                quote = "" if sign == quote else quote
            elif sign in "'\"":
                quote = sign
            elif sign == opening:
                depth += 1
            elif sign == closing:
                depth -= 1
                if depth == 0:
                    break
            at += 1
        self.at = min(at + 1, len(self.text))
        return self.text[start:at]
