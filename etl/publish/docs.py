"""Pages that are made from the schemas, the rules, the commands and the records, and kept equal to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from etl.checks.registry import FAMILIES, RULES
from etl.database import ddl
from etl.database.rowset import Answer
from etl.importers import describe
from etl.paths import Paths
from etl.publish import stats
from etl.records.loading import FOLDERS
from etl.records.schema import Schemas, Shape
from schemas import files
from schemas.refusal import RefusalError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

COMMAND = "shardbook docs"
BEGIN = f"<!-- stats: begin; DO NOT EDIT, `{COMMAND}` writes this block -->"
END = "<!-- stats: end -->"
WIDELY_USED = {"cite", "sources", "conflicts", "not_disclosed"}


def stamp(source: str) -> str:
    """The line that says what made a page.

    >>> stamp("the schemas")
    '<!-- DO NOT EDIT: `shardbook docs` makes this page from the schemas. -->'
    """
    return f"<!-- DO NOT EDIT: `{COMMAND}` makes this page from {source}. -->"


def pages(
    paths: Paths, schemas: Schemas, connection: DuckDBPyConnection, tables: list[ddl.Table], commands: str
) -> dict[Path, str]:
    """Content of every generated file.

    Parameters
    ----------
    paths : the checkout
    schemas : the resolved schemas
    connection : a database of the records
    tables : its tables and views, described
    commands : the page on the commands, which only the front door knows in full

    Returns
    -------
    text by file

    Raises
    ------
    RefusalError : README.md has no block for the statistics
    """
    readme = paths.root / "README.md"
    return {
        paths.docs / "data-dictionary.md": data_dictionary(schemas, tables),
        paths.docs / "checks.md": checks(),
        paths.docs / "formats.md": f"{stamp('the readers of each format')}\n\n{describe.page()}",
        paths.docs / "cli.md": f"{stamp('the help of every command')}\n\n{commands}\n",
        readme: with_block(readme.read_text("utf-8"), stats.as_markdown(stats.sections(connection, stats.SUMMARY))),
    }


def stale(wanted: Mapping[Path, str]) -> list[Path]:
    """Generated files that do not say what they should.

    >>> stale({Path("no-such-page.md"): "text"})
    [PosixPath('no-such-page.md')]
    """
    return [path for path, text in wanted.items() if not path.is_file() or path.read_text("utf-8") != text]


def with_block(readme: str, block: str) -> str:
    """The README with its block of statistics renewed.

    Parameters
    ----------
    readme : the whole file
    block : what has to stand between the two marks

    Returns
    -------
    the whole file

    Raises
    ------
    RefusalError : a mark is missing

    >>> with_block(f"a\\n{BEGIN}\\nold\\n{END}\\nb", "new").splitlines()[3]
    'new'
    """
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise RefusalError(f"README.md has no block for the statistics; put these two lines into it: {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{block}\n\n{END}{after}"


def checks() -> str:
    """The page on the rules, family by family."""
    import_module("etl.checks.runner")  # registers every rule
    intro = "What `shardbook check` looks at. Each finding carries the code of its rule, its place and one way out."
    parts = [stamp("the rules in etl/checks"), "# Checks", intro]
    rules = sorted(RULES.values(), key=lambda rule: rule.code)
    for family, title in FAMILIES.items():
        rows = [(rule.code, rule.name, rule.about) for rule in rules if rule.family == family]
        if rows:
            parts += [f"## {family} · {title}", stats.table(Answer(("code", "name", "rule"), rows))]
    return "\n\n".join(parts) + "\n"


def data_dictionary(schemas: Schemas, tables: Iterable[ddl.Table]) -> str:
    """The page on every field of a record file and every column of the database."""
    parts = [stamp("schemas/*.schema.json and the views"), "# Data dictionary", INTRODUCTION, "## Record files"]
    for kind, folder in FOLDERS.items():
        shape = schemas.kind(kind)
        parts += [f"### {shape.title or kind}: data/{folder}", shape.description]
        parts.append(stats.table(Answer(("field", "type", "unit", "level", "meaning"), list(fields(shape)))))
    parts.append("## Database")
    for table in tables:
        columns = [(f"`{one.name}`", one.type, one.unit, one.title_zh, one.description) for one in table.columns]
        parts += [f"### {table.schema}.{table.name}", table.description]
        parts.append(stats.table(Answer(("column", "type", "unit", "中文", "meaning"), columns)))
    return "\n\n".join(parts) + "\n"


INTRODUCTION = """The first part is what a contributor writes, the second what `shardbook build` makes of it.
A *quantity* is a number or a range `{low, best, high}` and becomes three columns; a *date* is a day, a month or a year
and becomes two."""


def fields(shape: Shape, path: str = "") -> Iterator[tuple[str, str, str, str, str]]:
    """Rows of the dictionary: one per field of a record file, nested ones by dotted path.

    Parameters
    ----------
    shape : schema of a record or of a part of it
    path : dotted path of that part

    Yields
    ------
    field, type, unit, level, meaning

    >>> list(fields(Shape("run", properties={"tp": Shape("tp", types=("integer",), description="Degree.")})))
    [('`tp`', 'integer', '', 'optional', 'Degree.')]
    """
    for name, below in shape.properties.items():
        here = f"{path}.{name}" if path else name
        level = "required" if name in shape.required else below.level
        yield f"`{here}`", type_of(below), below.unit, level, " ".join([below.description, *below.guidelines]).strip()
        if name in WIDELY_USED or below.is_quantity:
            continue
        yield from fields(below, here)
        if below.items is not None:
            yield from fields(below.items, f"{here}[]")


def type_of(shape: Shape) -> str:
    """What may be written in one place, in words.

    >>> type_of(Shape("tp", types=("integer",))), type_of(Shape("recompute", enum=("none", "full")))
    ('integer', 'none, full')
    """
    if shape.enum:
        return ", ".join(str(one) for one in shape.enum)
    if shape.ref:
        return f"{shape.ref} id"
    if shape.base in {"quantity", "date"}:
        return shape.base
    if shape.items is not None:
        return f"list of {type_of(shape.items)}" if not shape.items.properties else "list of objects"
    return " or ".join(shape.types) or "object"


def write(wanted: Mapping[Path, str], which: Iterable[Path]) -> None:
    """Write generated files, each whole or not at all.

    Parameters
    ----------
    wanted : text by file
    which : files to write
    """
    for path in which:
        files.replace(path, wanted[path])
