"""Which citation covers which value of a record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from etl.records.schema import Shape

Citation = str | Mapping[str, Any]


@dataclass(frozen=True)
class Block:
    """A part of a record with a `cite` of its own: '' is its top level, else totals, phases.<name>, points.<n>."""

    name: str
    value: Mapping[str, Any]
    shape: Shape


def blocks(shape: Shape, value: Mapping[str, Any]) -> Iterator[Block]:
    """The blocks of a record, top level first.

    Parameters
    ----------
    shape : schema of its kind
    value : the record

    Yields
    ------
    blocks in the order of the file

    >>> totals = Shape("totals", properties={"cite": Shape("cite")})
    >>> [block.name for block in blocks(Shape("run", properties={"totals": totals}), {"totals": {}})]
    ['', 'totals']
    """
    yield Block("", value, shape)
    for name, below in shape.properties.items():
        nested = value.get(name)
        if nested is None:
            continue
        if "cite" in below.properties and isinstance(nested, Mapping):
            yield Block(name, nested, below)
        elif below.items is not None and "cite" in below.items.properties and below.table != "conflicts":
            for number, item in enumerate(nested, 1):
                yield Block(f"{name}.{item.get('name', number)}", item, below.items)


def leaves(shape: Shape, value: Mapping[str, Any], group: str = "") -> Iterator[tuple[str, str, Any]]:
    """Values of a block that need a citation.

    Parameters
    ----------
    shape : schema of the block
    value : the block
    group : name of the nested object they stand in

    Yields
    ------
    (group, field, value); group is '' for values that stand in the block itself

    >>> layout = Shape("layout", properties={"tp": Shape("tp")})
    >>> list(leaves(Shape("phase", properties={"layout": layout}), {"layout": {"tp": 8}}))
    [('layout', 'tp', 8)]
    """
    for name, below in shape.properties.items():
        if name not in value or not below.cited or below.table or "cite" in below.properties:
            continue
        if below.properties:
            yield from leaves(below, value[name], name)
        else:
            yield group, name, value[name]


def citation_of(cite: Mapping[str, Citation], group: str, field: str) -> Citation | None:
    """The citation of a value: its own, else that of its group, else that of the whole block.

    Parameters
    ----------
    cite : the block's `cite`
    group : nested object that the value stands in, or ''
    field : its name

    Returns
    -------
    the citation as written, or None

    >>> citation_of({"*": "paper Table 4", "layout": "paper sec. 3"}, "layout", "tp")
    'paper sec. 3'
    """
    names = (f"{group}.{field}", field, group, "*") if group else (field, "*")
    return next((cite[name] for name in names if name in cite), None)


def parsed(citation: Citation) -> dict[str, Any]:
    """A citation taken apart.

    Parameters
    ----------
    citation : '<source key> <locator>', or a mapping with from, basis, how, via; a via that starts with an article
        describes a document without an address

    Returns
    -------
    source, locator, basis, how, via_source, via_locator, second_hand

    >>> parsed("paper Table 4")["locator"], parsed({"from": "card", "via": "epoch row 7"})["via_source"]
    ('Table 4', 'epoch')
    >>> parsed({"from": "paper Table 4", "via": "a transcription"})["via_locator"]
    'a transcription'
    """
    entry: Mapping[str, Any] = {"from": citation} if isinstance(citation, str) else citation
    source, _, locator = entry["from"].partition(" ")
    via = entry.get("via", "")
    # "a transcription of the paper" describes a document without an address: there is no key to take off.
    via_source, _, via_locator = ("", "", via) if via.startswith(("a ", "an ")) else via.partition(" ")
    return {
        "source": source,
        "locator": locator or None,
        "basis": entry.get("basis", "reported"),
        "how": entry.get("how"),
        "via_source": via_source or None,
        "via_locator": via_locator or None,
        "second_hand": bool(via),
    }


def cited_values(block: Block) -> Iterator[dict[str, Any]]:
    """One row per cited value of a block.

    Parameters
    ----------
    block : a block of a record

    Yields
    ------
    block, field, value as JSON, and the citation taken apart; a table of measured rows gives one row per
    entry of its `cite`, without value
    """
    cite = block.value.get("cite", {})
    if "rows" in block.shape.properties:
        yield from ({"block": block.name, "field": field, **parsed(entry)} for field, entry in cite.items())
        return
    for group, field, value in leaves(block.shape, block.value):
        entry = citation_of(cite, group, field)
        if entry is not None:
            printed = json.dumps(value, ensure_ascii=False)
            yield {"block": block.name, "field": field, "value": printed, **parsed(entry)}
