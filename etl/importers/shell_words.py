"""Read words, quotes, assignments and here-documents of a shell text, each with its line; nothing is expanded."""

import re
from collections.abc import Callable
from functools import partial

from etl.importers.problems import ImporterError
from etl.importers.shell_parse import Arith, Assign, Lit, Param, Part, Substitution, Word

_PLAIN = re.compile(r"[^\\'\"$`\s;&|()<>]+")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_ASSIGN = re.compile(r"([A-Za-z_]\w*)(\[[^\]\n]*\])?(\+?=)")
_REDIRECT = re.compile(r"(?:\d*(?:<<<|<<-|<<|>>|>\||>&|<&|<>|>(?!\()|<(?!\())|&>>?)")
_IN_QUOTES = re.compile(r"[^\\\"$`]+")
MOST_WORDS = 100_000


class Words:
    """A cursor over a text."""

    def __init__(self, text: str, line_of: Callable[[int], int]) -> None:
        self.text, self.line_of, self.at = text, line_of, 0
        self.pending: list[tuple[str, bool, bool, list[Word]]] = []
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
        match = _PLAIN.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match.group() if match else ""

    def line_of_words(self) -> list[Word]:
        """Words up to the end of the line or a semicolon."""
        found = []
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
            elif match := _PLAIN.match(self.text, self.at):
                parts.append(Lit(match.group(), self.line()))
                self.at = match.end()
            else:
                break
        self.count += 1
        if self.count > MOST_WORDS:
            raise ImporterError(f"the script holds more than {MOST_WORDS} words; no launch script does")
        return tuple(parts) if self.at > start else None

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


def _shifted(line_of: Callable[[int], int], start: int, offset: int) -> int:
    return line_of(start + offset)
