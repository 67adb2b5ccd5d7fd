"""Drafts: a record with `todo` wherever a person has to write, made from the schema and, if given, from a config."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from etl.checks.references import ID, TWO_PARTS
from etl.checks.repair import guideline
from etl.checks.shape import TODO
from etl.contribute.from_config import Draft, take
from etl.paths import Paths
from etl.records import schema
from etl.records.canonical import dump
from etl.records.loading import FOLDERS, Catalogue, load
from etl.records.schema import Shape
from schemas.files import replace

SOURCE = {"accelerator": "datasheet", "system": "datasheet", "cluster": "post", "trend": "post"}


def blank(kind: str, shape: Shape) -> dict[str, Any]:
    """A record with every required and recommended key, each saying `todo`.

    Parameters
    ----------
    kind : kind of record
    shape : its schema

    Returns
    -------
    plain values, to be written by `etl.records.canonical.dump`

    >>> blank("run", Shape("run", required=("name",), properties={"name": Shape("name"), "note": Shape("note")}))
    {'name': 'todo'}
    """
    value = _blank(shape, SOURCE.get(kind, "paper"))
    return dict(value) if isinstance(value, dict) else {}


def _blank(shape: Shape, source: str) -> Any:
    if shape.base == "sources":
        return {source: {"title": TODO, "url": TODO, "kind": TODO}}
    if shape.base == "cite":
        return {"*": f"{source} {TODO}"}
    if shape.items is not None and shape.items.properties:
        return [_blank(shape.items, source)]
    if not shape.properties or "layout" in shape.name:
        return TODO
    wanted = {name: inner for name, inner in shape.properties.items() if name in shape.required or _recommended(inner)}
    value = {name: _blank(inner, source) for name, inner in wanted.items()}
    cited = any(inner.cited and not inner.properties and not inner.table for inner in wanted.values())
    if "cite" in shape.properties and cited:
        value["cite"] = {"*": f"{source} {TODO}"}
    return value


def _recommended(shape: Shape) -> bool:
    """Whether a field, or a field inside it, is recommended."""
    below = [*shape.properties.values(), *(shape.items.properties.values() if shape.items else ())]
    return shape.level == "recommended" or any(_recommended(inner) for inner in below)


def prefill(value: dict[str, Any], kind: str, key: str, catalogue: Catalogue) -> None:
    """Put in what the folder already says: the organization's one spelling, and the model of the same id.

    Parameters
    ----------
    value : the draft, changed in place
    kind, key : kind and id of the new record
    catalogue : all records
    """
    folder = key.split("/")[0]
    for name in ("organization", "vendor"):
        known = Counter(
            record.value[name]
            for record in catalogue
            if record.id.startswith(f"{folder}/") and isinstance(record.value.get(name), str)
        )
        if name in value and known:
            value[name] = known.most_common(1)[0][0]
    if kind == "run" and key in catalogue["model"]:
        value["model"] = key


def draft(kind: str, key: str, shape: Shape, catalogue: Catalogue) -> Draft:
    """A draft without any config.

    Parameters
    ----------
    kind, key : kind and id of the new record
    shape : schema of the kind
    catalogue : all records
    """
    value = blank(kind, shape)
    prefill(value, kind, key, catalogue)
    return Draft(value)


@dataclass(frozen=True)
class Made:
    """A draft on disk: its kind, its name as findings print it, and what it holds."""

    kind: str
    name: str
    draft: Draft


def write(paths: Paths, kind: str, key: str, config: Sequence[Path]) -> Made:
    """Write a draft to its place below `data/`.

    Parameters
    ----------
    paths : the checkout
    kind, key : kind and id of the new record
    config : a config or log to take facts from, then the files it needs beside it; or the folder of a run

    Returns
    -------
    the draft and its name

    Raises
    ------
    ValueError : the id is malformed, the record exists, or the config cannot be read; the sentence says which
    """
    target = _free(paths, kind, key)
    shape = schema.load(paths.schemas).kind(kind)
    one = draft(kind, key, shape, load(paths.data))
    if config:
        from etl.importers import read_files

        title = " with ".join(filter(None, (config[0].name, ", ".join(path.name for path in config[1:]))))
        take(one, shape, read_files(_files(config)).facts, title)
    target.parent.mkdir(parents=True, exist_ok=True)
    replace(target, dump(one.value, shape))
    return Made(kind, target.relative_to(paths.root).as_posix(), one)


def write_with_model(paths: Paths, kind: str, key: str, config: Sequence[Path]) -> list[Made]:
    """Write a draft and, for a run whose model has no record yet, the model's before it.

    A config mostly describes the model, so its facts are offered to both; left out is what neither has a field for.

    Parameters
    ----------
    paths, kind, key, config : as for `write`

    Returns
    -------
    the drafts, in the order in which to fill them in

    Raises
    ------
    ValueError : as for `write`; nothing is written then
    """
    _free(paths, kind, key)
    if kind != "run" or (paths.data / FOLDERS["model"] / f"{key}.yaml").exists():
        return [write(paths, kind, key, config)]
    made = [write(paths, "model", key, config), write(paths, "run", key, config)]
    both = [line for line in made[0].draft.left_out if line in made[1].draft.left_out]
    made[0].draft.left_out, made[1].draft.left_out = both, []
    return made


def _files(config: Sequence[Path]) -> list[str]:
    """The files of a run: as named, or the first run that a folder holds."""
    from etl.importers.together import runs

    listed = runs(str(config[0])) if config[0].is_dir() else []
    return listed[0] if listed else [str(path) for path in config]


def _free(paths: Paths, kind: str, key: str) -> Path:
    """The file that a new record will be, when its id is one and the file does not exist."""
    wanted = "<organization>/<name>" if kind in TWO_PARTS else "<name>"
    target = paths.data / FOLDERS[kind] / f"{key}.yaml"
    if not ID.match(key) or key.count("/") != (kind in TWO_PARTS):
        raise ValueError(f"{key!r} is not an id of a {kind}; write {wanted} in lower-case letters, digits, '.' and '-'")
    if target.exists() or target.is_symlink():
        raise ValueError(f"{target.relative_to(paths.root).as_posix()} exists; edit it, or choose another id")
    return target


def guidelines(value: Any, shape: Shape, path: str = "") -> Iterator[tuple[str, str]]:
    """Every `todo` of a draft with how to fill it.

    Parameters
    ----------
    value : the draft
    shape : its schema

    Returns
    -------
    pairs of the dotted path and the guideline
    """
    if isinstance(value, str) and (value == TODO or value.endswith(f" {TODO}")):
        yield path, guideline(shape)
    elif isinstance(value, dict):
        for name, below in value.items():
            inner = shape.child(name)
            if inner is not None:
                yield from guidelines(below, inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and shape.items is not None:
        for below in value:
            yield from guidelines(below, shape.items, f"{path}[]")
