"""Read the pieces of commands in a shell text: blanks, operators, assignments, arrays, redirections, here-documents."""

import re
from collections.abc import Callable
from functools import partial

from etl.importers.shell.nodes import Assign, Lit, Word
from etl.importers.shell.quotes import PLAIN, Quotes

_ASSIGN = re.compile(r"([A-Za-z_]\w*)(\[[^\]\n]*\])?(\+?=)")
_REDIRECT = re.compile(r"(?:\d*(?:<<<|<<-|<<|>>|>\||>&|<&|<>|>(?!\()|<(?!\())|&>>?)")


class Words(Quotes):
    """A cursor over a text that reads words and what stands between them."""

    def __init__(self, text: str, line_of: Callable[[int], int]) -> None:
        super().__init__(text, line_of)
        self.pending: list[tuple[str, bool, bool, list[Word]]] = []

    def peek(self, ends: frozenset[str]) -> str | None:
        """The one of `ends` that stands at the cursor as a word of its own."""
        for end in ends:
            if self.starts(end):
                after = self.text[self.at + len(end) : self.at + len(end) + 1]
                if not end.isalpha() or not after or after in " \t\n;()&|":
                    return end
        return None

    def skip(self, ends: frozenset[str]) -> str | None:
        """Step over one of `ends`, if one is there."""
        found = self.peek(ends)
        self.at += len(found) if found else 0
        return found

    def blank(self, newlines: bool = False) -> None:
        """Skip spaces, continued lines and comments; with `newlines` also line ends and semicolons."""
        while not self.done():
            sign = self.text[self.at]
            if sign in " \t":
                self.at += 1
            elif sign == "\\" and self.text[self.at + 1 : self.at + 2] == "\n":
                self.at += 2
            elif sign == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif newlines and sign == "\n":
                self.at += 1
                self._documents()
            elif newlines and sign == ";" and not self.starts(";;"):
                self.at += 1
            else:
                return

    def operator(self) -> str | None:
        """&&, ||, | or |& at the cursor, consumed."""
        for sign in ("&&", "||", "|&", "|"):
            if self.starts(sign):
                self.at += len(sign)
                return sign
        if self.starts("&") and not self.starts("&>"):
            self.at += 1
        return None

    def plain(self) -> str:
        """Plain characters at the cursor, such as a name."""
        match = PLAIN.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match.group() if match else ""

    def line_of_words(self) -> list[Word]:
        """Words up to the end of the line or a semicolon."""
        found: list[Word] = []
        while True:
            self.blank()
            word = self.word()
            if word is None:
                return found
            found.append(word)

    def test_words(self) -> list[Word]:
        """The words of `[[ ... ]]`, with && || ( ) < > as words."""
        self.at += 2
        found: list[Word] = []
        while not self.done():
            self.blank(newlines=True)
            if self.starts("]]"):
                self.at += 2
                break
            sign = next((s for s in ("&&", "||", "(", ")", "<", ">", "|", "&", ";") if self.starts(s)), None)
            if sign:
                self.at += len(sign)
                found.append((Lit(sign, self.line()),))
            elif (word := self.word()) is not None:
                found.append(word)
            else:
                break
        return found

    def patterns(self) -> list[Word]:
        """The patterns of one case branch, up to their closing parenthesis."""
        found: list[Word] = []
        while not self.done():
            self.blank(newlines=True)
            sign = self.text[self.at : self.at + 1]
            if sign in {"(", "|", ")"}:
                self.at += 1
                if sign == ")":
                    break
            elif (word := self.word()) is not None:
                found.append(word)
            else:
                self.at += 1
        return found

    def assignment(self) -> Assign | None:
        """`NAME=...` at the cursor."""
        match = _ASSIGN.match(self.text, self.at)
        if match is None:
            return None
        line = self.line()
        self.at = match.end()
        name, index, sign = match.groups()
        value: Word | list[Word] = self._array() if self.starts("(") else self.word() or ()
        return Assign(name, index[1:-1] if index else None, sign == "+=", value, line)

    def _array(self) -> list[Word]:
        self.at += 1
        found: list[Word] = []
        while not self.done():
            self.blank(newlines=True)
            if self.starts(")"):
                self.at += 1
                break
            word = self.word()
            if word is None:
                self.at += 1
            else:
                found.append(word)
        return found

    def redirection(self, documents: list[Word]) -> bool:
        """Step over a redirection; a here-document is read when its line ends."""
        match = _REDIRECT.match(self.text, self.at)
        if match is None:
            return False
        self.at = match.end()
        self.blank()
        sign = match.group().lstrip("0123456789")
        quoted = self.text[self.at : self.at + 1] in {"'", '"', "\\"}
        target = self.word()
        name = "".join(p.text for p in target or () if isinstance(p, Lit))
        if sign in {"<<", "<<-"} and name:
            self.pending.append((name, sign == "<<-", quoted, documents))
        elif sign == "<<<" and target:
            documents.append(target)
        return True

    def _documents(self) -> None:
        """Read the here-documents announced on the line that just ended."""
        waiting, self.pending = self.pending, []
        for name, tabs, quoted, documents in waiting:
            start = end = self.at
            while not self.done():
                end = self.at
                stop = self.text.find("\n", end)
                self.at = len(self.text) if stop < 0 else stop + 1
                line = self.text[end : self.at]
                if (line.lstrip("\t") if tabs else line).rstrip() == name:
                    break
                end = self.at
            body = Words(self.text[start:end], partial(_shifted, self.line_of, start))
            documents.append(tuple(body._literal(body.text, 0) if quoted else body.quoted_text("")))


def _shifted(line_of: Callable[[int], int], start: int, offset: int) -> int:
    return line_of(start + offset)
