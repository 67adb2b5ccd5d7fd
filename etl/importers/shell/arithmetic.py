"""Shell integer arithmetic, evaluated over known values only; no assignment, no side effect."""

import operator
import re
from collections.abc import Callable

from etl.importers.problems import ImporterError

DEEPEST = 30
LARGEST = 2**63
_TOKEN = re.compile(r"\s*(?:(0[xX][0-9a-fA-F]+|\d+)|(\*\*|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%()<>!~?:])|([A-Za-z_]\w*))")

Lookup = Callable[[str], str | None]


def _divide(a: int, b: int) -> int:
    if b == 0:
        raise ValueError("division by zero")
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _power(a: int, b: int) -> int:
    if b < 0 or b > 64:
        raise ValueError("exponent out of range")
    return int(a**b)


_LEVELS: list[dict[str, Callable[[int, int], int]]] = [
    {"||": lambda a, b: int(bool(a or b))},
    {"&&": lambda a, b: int(bool(a and b))},
    {"==": operator.eq, "!=": operator.ne},
    {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge},
    {"<<": lambda a, b: a << min(max(b, 0), 63), ">>": lambda a, b: a >> min(max(b, 0), 63)},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": _divide, "%": lambda a, b: a - b * _divide(a, b)},
]


def evaluate(expression: str, lookup: Lookup, depth: int = 0) -> int | None:
    """The value of an arithmetic expression, or None where a name or sign is unknown.

    `lookup` gives the text of a variable, or None. Raises ImporterError for variables that refer to one another.

    >>> evaluate("500 + 39 * N", {"N": "500"}.get), evaluate("7 / 2 * 2", {}.get), evaluate("X + 1", {}.get)
    (20000, 6, None)
    """
    if depth > DEEPEST:
        raise ImporterError(f"the arithmetic {expression[:40]!r} refers to itself without end; break the loop")
    tokens: list[str] = []
    at = 0
    stripped = expression.strip()
    while at < len(stripped) and len(tokens) < 2000:
        match = _TOKEN.match(stripped, at)
        if match is None:
            return None
        tokens.append(match.group().strip())
        at = match.end()
    if at < len(stripped):
        return None
    try:
        return _Expression(tokens, lookup, depth).whole()
    except ImporterError:
        raise
    except ValueError:
        return None


class _Expression:
    def __init__(self, tokens: list[str], lookup: Lookup, depth: int) -> None:
        self.tokens, self.at, self.lookup, self.depth, self.nested = tokens, 0, lookup, depth, 0

    def whole(self) -> int:
        value = self.choice()
        if self.at != len(self.tokens):
            raise ValueError("left over")
        return value

    def peek(self) -> str | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def choice(self) -> int:
        test = self.level(0)
        if self.peek() != "?":
            return test
        self.at += 1
        yes = self.choice()
        if self.peek() != ":":
            raise ValueError("no alternative")
        self.at += 1
        no = self.choice()
        return yes if test else no

    def level(self, index: int) -> int:
        if index == len(_LEVELS):
            return self.power()
        value = self.level(index + 1)
        while (sign := self.peek()) in _LEVELS[index]:
            self.at += 1
            value = int(_LEVELS[index][sign or ""](value, self.level(index + 1)))
            if abs(value) >= LARGEST:
                raise ValueError("overflow")
        return value

    def power(self) -> int:
        value = self.unary()
        if self.peek() == "**":
            self.at += 1
            value = _power(value, self.power())
        return value

    def unary(self) -> int:
        sign = self.peek()
        self.at += 1
        self.nested += 1
        if sign is None or self.nested > 300:
            raise ValueError("ends early or nests too deep")
        if sign in {"-", "+", "!", "~"}:
            value = self.unary()
            return {"-": -value, "+": value, "!": int(not value), "~": ~value}[sign]
        if sign == "(":
            value = self.choice()
            if self.peek() != ")":
                raise ValueError("unclosed")
            self.at += 1
            return value
        return self.operand(sign)

    def operand(self, token: str) -> int:
        if token[0].isdigit():
            return _integer(token)
        text = self.lookup(token)
        if text is None:
            raise ValueError("unknown name")
        if re.fullmatch(r"-?\d+", text.strip()):
            return _integer(text.strip())
        value = evaluate(text, self.lookup, self.depth + 1)
        if value is None:
            raise ValueError("no number")
        return value


def _integer(token: str) -> int:
    """An integer literal; a leading zero would mean octal, which is never intended, so it is not read as a number."""
    digits = token.lstrip("-")
    if len(digits) > 20 or (len(digits) > 1 and digits[0] == "0" and digits[1] not in "xX"):
        raise ValueError("no plain integer")
    return int(token, 0)
