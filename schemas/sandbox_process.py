"""The process that runs untrusted SQL: one request a line, one reply a line, limits set before anything is read."""

from __future__ import annotations

import datetime
import decimal
import json
import os
import queue
import sys
import threading
from pathlib import Path
from typing import Any

from schemas import sandbox
from schemas.refusal import RefusalError

MEMORY = 6 * 2**30
"""Address space of the process [B]; DuckDB's own limit does not count lists and texts that one operator makes."""

READING = {"SELECT", "EXPLAIN"}


class Refused(Exception):  # noqa: N818  (a reply, not a fault)
    """A reply other than rows."""

    def __init__(self, kind: str, sentence: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.reply = {"kind": kind, "sentence": sentence, "detail": detail}


def limit() -> None:
    """Give up memory beyond the limit, files that grow, and core dumps, where the system can do that."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def plain(value: object) -> object:
    """A value as JSON knows it.

    Parameters
    ----------
    value : what DuckDB returned

    Returns
    -------
    a number, text, list, mapping or None

    >>> plain(datetime.date(2024, 7, 23)), plain(float("nan")), plain([decimal.Decimal("0.5")])
    ('2024-07-23', None, [0.5])
    """
    if isinstance(value, decimal.Decimal):
        value = float(value)
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    return value if value is None or isinstance(value, str | int | bool) else str(value)


def run(connection: Any, sql: str, most_rows: int, largest_cell: int) -> dict[str, Any]:
    """Run one reading statement.

    Parameters
    ----------
    connection : an open DuckDB connection
    sql : the statement
    most_rows : rows of the answer
    largest_cell : characters of one value

    Returns
    -------
    columns and values

    Raises
    ------
    Refused : there is not one reading statement, or the answer is too large
    duckdb.Error : the statement fails
    """
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        number = len(statements)
        few = 'The query is empty; try: shardbook sql "select * from run_summary".'
        raise Refused("statement", f"The query holds {number} statements; give one at a time." if number else few)
    kind = statements[0].type.name
    if kind not in READING:
        sentence = f"The query is a {kind} statement; only reading ones (select, with, describe) are run."
        raise Refused("statement", sentence)
    cursor = connection.execute(statements[0])
    columns = [column[0] for column in cursor.description or ()]
    rows = cursor.fetchmany(most_rows + 1)
    if len(rows) > most_rows:
        sentence = f"The answer has more than {most_rows:,} rows; add a limit, or use shardbook export."
        raise Refused("rows", sentence)
    values = [[plain(value) for value in row] for row in rows]
    if any(size(value) > largest_cell for row in values for value in row):
        raise Refused("cell", f"A value of the answer has more than {largest_cell:,} characters; select less of it.")
    return {"columns": columns, "values": values}


def size(value: object) -> int:
    """Characters of a value, those of its items included.

    Parameters
    ----------
    value : as JSON knows it

    Returns
    -------
    the number; 8 for a number

    >>> size("abc"), size(["ab", 1]), size(None)
    (3, 10, 0)
    """
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(size(key) + size(item) for key, item in value.items())
    if isinstance(value, list):
        return sum(size(item) for item in value)
    return 0 if value is None else 8


def reply(request: dict[str, Any], opened: dict[str, Any]) -> dict[str, Any]:
    """The reply to one request.

    Parameters
    ----------
    request : path, sql, rows, cell
    opened : connections by path, kept from request to request

    Returns
    -------
    columns and values, or kind and sentence of a refusal
    """
    import duckdb

    try:
        if request["path"] not in opened:
            opened[request["path"]] = sandbox.connect(Path(request["path"]))
        return run(opened[request["path"]], request["sql"], request["rows"], request["cell"])
    except Refused as refused:
        return refused.reply
    except RefusalError as refusal:
        return {"kind": "database", "sentence": str(refusal)}
    except (duckdb.OutOfMemoryException, MemoryError):
        return {"kind": "memory", "sentence": "The query needs more memory than it may have; simplify it."}
    except (duckdb.Error, RuntimeError, ValueError, OverflowError) as error:
        return {"kind": "sql", "sentence": str(error).strip().split("\n")[0], "detail": str(error)}


def _listen(lines: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


def main() -> None:
    """Reply to requests until the input ends; when the asking process dies, a query under way ends as well."""
    limit()
    opened: dict[str, Any] = {}
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    while True:
        line = lines.get()
        sys.stdout.write(json.dumps(reply(json.loads(line), opened)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
