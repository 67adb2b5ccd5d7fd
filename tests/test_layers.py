"""The three packages meet in the database and in the front door, nowhere else."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("etl", "analysis", "reports")
PHYSICS_MAY_USE = {
    "__future__",
    "analysis",
    "collections",
    "dataclasses",
    "functools",
    "math",
    "numpy",
    "schemas",
    "typing",
}


def imported(path):
    """Top-level names that a module imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.split(".")[0]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_neither_of_the_others(package):
    others = set(PACKAGES) - {package} | {"shardbook"}
    crossing = {
        str(path.relative_to(ROOT)): sorted(others & set(imported(path)))
        for path in (ROOT / package).rglob("*.py")
        if others & set(imported(path))
    }
    assert crossing == {}


def test_physics_needs_numpy_and_nothing_else():
    used = {name for path in (ROOT / "analysis" / "physics").glob("*.py") for name in imported(path)}
    assert used <= PHYSICS_MAY_USE


def test_only_command_modules_print():
    printing = [
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if "commands" not in str(path.relative_to(ROOT))
        and any(
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        )
    ]
    assert printing == []


def test_every_package_has_modules_to_check():
    assert all(len(list((ROOT / package).rglob("*.py"))) > 5 for package in PACKAGES)
