"""The contracts on who may import whom, written in pyproject.toml, hold in this checkout."""

from pathlib import Path

from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports


def test_the_import_contracts_hold():
    config = Path(__file__).parents[1] / "pyproject.toml"
    assert lint_imports(config_filename=str(config), no_cache=True) == EXIT_STATUS_SUCCESS
