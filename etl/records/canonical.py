"""The canonical form of a record: keys in schema order, short parts on one line, numbers as their author wrote them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from etl.records.schema import Shape
from etl.yaml.nodes import Node, number
from etl.yaml.printing import WIDTH, block, quote, show_number, word
from etl.yaml.reader import Doc

# A part that does not fit on one line is written as a block; an entry of a list or table with more keys is wrapped.
ROW = 6
ANY = Shape("value")


def to_node(value: Any) -> Node:
    """Plain Python values as a tree, numbers in their shortest spelling.

    >>> to_node({"tokens": 3.8e25}).value["tokens"].text
    '3.8e25'
    """
    if isinstance(value, dict):
        return Node({str(key): to_node(below) for key, below in value.items()}, (1, 1), 0, 0)
    if isinstance(value, list | tuple):
        return Node([to_node(below) for below in value], (1, 1), 0, 0)
    text = show_number(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
    return Node(value, (1, 1), 0, 0, text)


def dump(value: dict[str, Any], shape: Shape = ANY) -> str:
    """Write plain values as a record.

    Parameters
    ----------
    value : the record
    shape : its schema; keys that it does not know come last, in their order

    Returns
    -------
    canonical text; reading it gives `value` back

    >>> layout = Shape("x", properties={"name": Shape("name"), "tp": Shape("tp")})
    >>> print(dump({"tp": 8, "name": "a: b"}, layout), end="")
    name: "a: b"
    tp: 8
    """
    return render(to_node(value), shape)


def form(doc: Doc, shape: Shape) -> str:
    """Canonical text of a document that was read.

    Parameters
    ----------
    doc : the document, without syntax findings
    shape : its schema

    Returns
    -------
    the text; values are the same, except for what `mend` may repair

    Raises
    ------
    ValueError : the document has no mapping at its top

    >>> from etl.yaml.reader import parse
    >>> form(parse(b"note: 'x'", "a.yaml"), ANY)
    'note: x\\n'
    """
    if doc.root is None or not isinstance(doc.root.value, dict):
        raise ValueError(f"{doc.path} is not a mapping of keys to values")
    return render(mend(doc.root, shape), shape)


def mend(node: Node, shape: Shape) -> Node:
    """The tree with what needs no person repaired: numbers where text is wanted and the reverse, ends of prose.

    >>> mend(Node(2024, (1, 1), 0, 4, "2024"), Shape("released", types=("string",))).value
    '2024'
    """
    value = node.value
    if isinstance(value, dict):
        inner = {key: mend(below, shape.child(key) or ANY) for key, below in value.items()}
        chosen = next((choice for choice in shape.choices if "object" in choice.types), None)
        if chosen is not None:
            inner = {key: mend(below, chosen.child(key) or ANY) for key, below in value.items()}
        return Node(inner, node.place, node.start, node.end, style=node.style)
    if isinstance(value, list):
        return Node(
            [mend(below, shape.items or ANY) for below in value], node.place, node.start, node.end, style=node.style
        )
    if shape.types == ("integer",) and isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return Node(int(value), node.place, node.start, node.end, str(int(value)))
    if shape.types == ("string",) and node.is_number:
        return Node(node.text, node.place, node.start, node.end, node.text)
    if isinstance(value, str) and shape.base == "prose":
        return Node(value.strip("\n "), node.place, node.start, node.end, node.text, node.style)
    wants_number = bool(
        {"number", "integer"} & {*shape.types, *(one for choice in shape.choices for one in choice.types)}
    )
    if isinstance(value, str) and wants_number and not isinstance(number(value), str):
        return Node(number(value), node.place, node.start, node.end, value)
    return node


def render(node: Node, shape: Shape) -> str:
    """A tree of mappings as text.

    >>> render(to_node({"layout": {"tp": 8}}), ANY)
    'layout:\\n  tp: 8\\n'
    """
    return "\n".join(_mapping(node, shape, 0)) + "\n" if node.value else "{}\n"


def _mapping(node: Node, shape: Shape, indent: int, order: list[str] | None = None) -> Iterator[str]:
    """Lines of a block mapping."""
    for key in _ordered(node, shape, order):
        head = " " * indent + word(key, False) + ":"
        inner = shape.child(key) or ANY
        inside = _cite_order(shape) if inner.base == "cite" else None
        yield from _entry(head, node.value[key], inner, indent, inside, row=key not in shape.properties)


def _ordered(node: Node, shape: Shape, order: list[str] | None) -> list[str]:
    known = order or list(shape.properties)
    rank = {key: place for place, key in enumerate(known)}
    return sorted(node.value, key=lambda key: rank.get(key, len(rank)))


def _cite_order(shape: Shape) -> list[str]:
    """Names that a block's cite may hold, in the order of the fields they cover."""
    names = ["*"]
    for name, inner in shape.properties.items():
        names += [name, *inner.properties]
    return list(dict.fromkeys(names))


def _entry(
    head: str, node: Node, shape: Shape, indent: int, order: list[str] | None = None, row: bool = True
) -> Iterator[str]:
    """Lines of one key or list item, `head` being `key:` or `-`; a `row` stands beside others of its kind."""
    value = node.value
    if not isinstance(value, dict | list):
        yield from _scalar(head, node, indent)
        return
    pieces = _pieces(node, shape, order)
    ends = "{}" if isinstance(value, dict) else "[]"
    line = f"{head} {ends[0]}{', '.join(pieces)}{ends[1]}"
    if not value or (_on_one_line(node, shape) and len(line) <= WIDTH):
        yield line
    elif _on_one_line(node, shape) and (row or isinstance(value, list)) and len(pieces) > ROW:
        yield from _wrapped(f"{head} {ends[0]}", pieces, ends[1], indent)
    elif isinstance(value, dict):
        yield from _below(head, _mapping(node, shape, indent + 2, order), indent)
    else:
        yield head
        for item in value:
            yield from _entry(" " * (indent + 2) + "-", item, shape.items or ANY, indent + 2)


def _below(head: str, lines: Iterator[str], indent: int) -> Iterator[str]:
    """Lines below a key; below a dash the first one stands beside it."""
    if head.endswith("-"):
        first = next(lines)
        yield f"{head} {first[indent + 2 :]}"
    else:
        yield head
    yield from lines


def _on_one_line(node: Node, shape: Shape) -> bool:
    """Whether the schema, or without one the author, wants a part on one line."""
    value = node.value
    if shape.flow or shape.is_quantity:
        return True
    if isinstance(value, list) and not any(isinstance(item.value, dict | list) for item in value):
        return True
    if shape.choices:
        return any(choice.flow for choice in shape.choices)
    return shape is ANY and node.style in {"{", "["}


def _pieces(node: Node, shape: Shape, order: list[str] | None = None) -> list[str]:
    """Parts of a flow mapping or list."""
    if isinstance(node.value, list):
        return [_flow(item, shape.items or ANY) for item in node.value]
    return [
        f"{word(key, True)}: {_flow(node.value[key], _inside(shape, key))}"
        for key in _ordered(node, _object(shape), order)
    ]


def _object(shape: Shape) -> Shape:
    """The shape itself, or the one of its choices that is an object."""
    return next((choice for choice in shape.choices if choice.properties), shape)


def _inside(shape: Shape, key: str) -> Shape:
    return _object(shape).child(key) or ANY


def _flow(node: Node, shape: Shape) -> str:
    value = node.value
    if isinstance(value, dict):
        return "{" + ", ".join(_pieces(node, shape)) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_pieces(node, shape)) + "]"
    return _word(node, True)


def _wrapped(head: str, pieces: list[str], end: str, indent: int) -> Iterator[str]:
    """A long row over several lines, each within the line width."""
    line = head
    for number_, piece in enumerate(pieces):
        tail = end if number_ == len(pieces) - 1 else ","
        gap = "" if line in {head, " " * (indent + 4)} else " "
        if len(line) + len(gap) + len(piece) + len(tail) > WIDTH and gap:
            yield line
            line, gap = " " * (indent + 4), ""
        line += gap + piece + tail
    yield line


def _word(node: Node, flow: bool) -> str:
    if isinstance(node.value, bool):
        return "true" if node.value else "false"
    if node.value is None:
        return "null"
    if node.is_number:
        return node.text
    return word(str(node.value), flow)


def _scalar(head: str, node: Node, indent: int) -> Iterator[str]:
    text = node.value if isinstance(node.value, str) else ""
    lines = block(text, indent + 2, WIDTH - len(head) - 1) if text else None
    if lines is None:
        one = quote(text) if "\n" in text else _word(node, False)
        yield f"{head} {one}"
    else:
        yield f"{head} {lines[0]}"
        yield from lines[1:]
