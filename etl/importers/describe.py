"""The page on formats, made from the readers' own source: fields, defaults with their reasons, what never is.

Source is parsed, so that the page cannot claim a field that no reader states.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from etl.importers import fields, frameworks
from etl.importers.format import Format
from etl.importers.formats_list import formats

FIELDS = fields.COUNTS | fields.MEASURES | fields.FLAGS | {"precision", "recompute"}
STATING = frozenset({"state", "derive", "remark", "default", "agree", "setdefault"})
ROOM = "etl.importers.formats"
INTRO = """# Formats that `shardbook import` reads

`shardbook import FILE [COMPANION...]` prints facts of a published config, launch script or log with their origin, key
and line; `shardbook import FOLDER` finds the files that belong together. Nothing that is read is run. A fact is
*stated* (a file says it), *derived* (arithmetic on facts), a *default* (the file is silent and its framework fixes it)
or a *comment* (only a comment or a name says it). What is not known is left out.

A default is printed only where the framework is established by its program, its settings or its arguments. For
Megatron's arguments the framework decides:"""


def page() -> str:
    """Markdown of the page.

    >>> "`hf_config`" in page()
    True
    """
    rows = [INTRO, "", "| framework | what a run does where no flag speaks | source |", "|---|---|---|"]
    for one in frameworks.ON_MEGATRON:
        statements = ", ".join(f"{name} {_plain(value)}" for name, value in one.run.items())
        rows.append(f"| {one.name} (`{one.format}`) | {statements} | {one.source} |")
    return "\n".join([*rows, *(line for row in formats() for line in _section(row))]) + "\n"


def _plain(value: object) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def _section(row: Format) -> Iterator[str]:
    title = (import_module(row.package).__doc__ or "").strip().split("\n")[0].rstrip(".")
    modules = _modules(f"{row.package}.{row.name}")
    stated = sorted({name for module in modules for name in _stated(module)})
    yield f"\n## `{row.name}`\n"
    yield f"{title}; {', '.join(row.kinds)}. Never in such a file: {row.cannot}.\n"
    yield f"- Read: {', '.join(f'`{name}`' for name in stated) or row.tells}."
    defaults = sorted({pair for module in modules for pair in _defaults(module)})
    for name, reason in defaults:
        yield f"- Default of `{name}`: {reason}."


@cache
def _tree(module: str) -> ast.Module:
    spec = find_spec(module)
    return ast.parse(Path(spec.origin or "").read_text("utf-8")) if spec and spec.origin else ast.Module([], [])


def _modules(module: str) -> list[str]:
    """A reader and the modules of formats that state facts for it."""
    hits, queue = [], [module]
    while queue:
        name = queue.pop(0)
        if name in hits:
            continue
        hits.append(name)
        for node in ast.walk(_tree(name)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("etl.importers"):
                queue += _stating(node)
    return hits


def _stating(node: ast.ImportFrom) -> list[str]:
    """Modules that an import hands statements from: modules by name, or functions that state, read or describe."""
    package = node.module or ""
    if not package.startswith(ROOM):
        return ["etl.importers.derive"] if any(a.name == "attention_defaults" for a in node.names) else []
    hits = [f"{package}.{a.name}" for a in node.names if find_spec_of(f"{package}.{a.name}")]
    if any(re.match(r"state_|read_|describe|fsdp_stage|feed_forward", a.name) for a in node.names):
        hits.append(package)
    return hits


def find_spec_of(name: str) -> bool:
    """Whether a dotted name is a module."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _calls(module: str) -> Iterator[tuple[str, ast.Call]]:
    """Calls that record a fact, in the functions of a module; of `derive` only the defaults of attention."""
    tree: ast.AST = _tree(module)
    if module.endswith(".derive"):
        tree = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "attention_defaults")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in STATING:
                yield name, node


def _stated(module: str) -> Iterator[str]:
    """Fields that a module states: first words of calls, keys of its tables, names that its loops run over."""
    for _, call in _calls(module):
        yield from (a.value for a in call.args[:2] if isinstance(a, ast.Constant) and a.value in FIELDS)
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Dict) and not module.endswith((".derive", ".fields")):
            yield from (k.value for k in node.keys if isinstance(k, ast.Constant) and k.value in FIELDS)
        if isinstance(node, ast.For):
            inner = [n for n in ast.walk(node.iter) if isinstance(n, ast.Constant)]
            yield from (str(n.value) for n in inner if n.value in FIELDS)


def _defaults(module: str) -> Iterator[tuple[str, str]]:
    """Defaults with the reason that a reading prints; what is computed in it is shown as dots."""
    tables = {
        target.id: node.value
        for node in _tree(module).body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    loops = {
        name: list(_constants(tables.get(node.iter.id, node.iter) if isinstance(node.iter, ast.Name) else node.iter))
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.For)
        for name in {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
    }
    for called, call in _calls(module):
        if called != "default" or len(call.args) < 3:
            continue
        first = call.args[0]
        names = [str(first.value)] if isinstance(first, ast.Constant) else loops.get(getattr(first, "id", ""), [])
        for name in names:
            yield name, _reason(call.args[2])


def _constants(node: ast.expr) -> Iterator[str]:
    """Fields among the constants of a tuple, or among the keys of a table."""
    inner = node.keys if isinstance(node, ast.Dict) else ast.walk(node)
    yield from (str(n.value) for n in inner if isinstance(n, ast.Constant) and n.value in FIELDS)


def _reason(node: ast.expr) -> str:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(str(p.value) if isinstance(p, ast.Constant) else "..." for p in parts) or "..."
