"""Commands of the analysis, one module per subject; only command modules print."""

from importlib import import_module
from pkgutil import iter_modules

import typer

app = typer.Typer(no_args_is_help=True, add_completion=False)

for _module in iter_modules(__path__):
    app.registered_commands += getattr(import_module(f"{__name__}.{_module.name}"), "app", app).registered_commands[:]
