"""The page on the commands, made from the application itself so that it can't lag behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer


def commands_page(context: Any) -> str:
    """Every command of an application with its arguments, options and example.

    Parameters
    ----------
    context : of the application itself (typer does not export the type that its own contexts have)

    Returns
    -------
    Markdown

    >>> app = typer.Typer()
    >>> _ = app.command(epilog="Example: shardbook build")(lambda: None)
    >>> print(commands_page(typer.Context(typer.main.get_command(app), info_name="shardbook")).splitlines()[0])
    # Commands
    """
    name = context.info_name or "shardbook"
    intro = f"`{name} --help` lists them; `{name} COMMAND --help` prints what is below. The examples are run from the"
    where = "folder of the checkout after `. .venv/bin/activate`, or with `.venv/bin/` before each name."
    parts = ["# Commands", f"{intro}\n{where}"]
    for path, command, own in commands(context.command, context):
        parts.append(f"## {path}\n\n{command.help or ''}")
        parts.append(f"```\n{' '.join([path, *command.collect_usage_pieces(own)])}\n```")
        parts += [part for part in (_parameters(command, own), _example(command)) if part]
    return "\n\n".join(parts)


def commands(command: Any, context: Any) -> Iterator[tuple[str, Any, Any]]:
    """Commands of a group, in order, groups of groups opened.

    Parameters
    ----------
    command : a command or a group of them
    context : its own

    Yields
    ------
    full name, command, its context; hidden ones are left out
    """
    if not hasattr(command, "list_commands"):
        yield context.command_path.removeprefix("python -m "), command, context
        return
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        if below is not None and not below.hidden:
            yield from commands(below, typer.Context(below, info_name=name, parent=context))


def _parameters(command: Any, context: Any) -> str:
    """One line per argument and option."""
    records = [parameter.get_help_record(context) for parameter in command.params]
    return "\n".join(f"- `{left}`: {' '.join(right.split())}" for left, right in filter(None, records))


def _example(command: Any) -> str:
    examples = command.epilog or ""
    return f"```sh\n{examples.removeprefix('Example: ')}\n```" if examples.startswith("Example: ") else examples
