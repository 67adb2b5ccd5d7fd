"""A small site: the made-up house of tests/data with one hostile name, and the two runs that the page compares."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from analysis.assess import results as assess
from etl.database import building
from etl.paths import Paths
from etl.records import loading
from reports.page import site
from reports.source import Source
from schemas.sandbox import connect

ROOT = Path(__file__).parents[2]
EVIL = "</script><img src=x onerror=alert(1)>"
STORY = (
    *(f"{kind}/{name}.yaml" for kind in ("runs", "models") for name in ("meta/llama-3.1-405b", "deepseek/deepseek-v3")),
    *("systems/meta", "systems/deepseek", "accelerators/nvidia"),
)
"""Records of the two runs that the page compares."""
CHROMIUM = next((path for path in ("/usr/bin/chromium", "/usr/bin/chromium-browser") if Path(path).exists()), "")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def house(place: Path, with_records: bool = True) -> Path:
    """A built and assessed database of the made-up records; one run has a hostile name."""
    shutil.copytree(ROOT / "schemas", place / "schemas")
    if with_records:
        shutil.copytree(ROOT / "tests" / "data" / "house", place / "data")
        for name in STORY:
            target = place / "data" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / "data" / name).is_dir() else shutil.copy)(ROOT / "data" / name, target)
        run = place / "data" / "runs" / "acme" / "moe.yaml"
        lines = run.read_text(encoding="utf-8").splitlines()
        run.write_text("\n".join([f'name: "{EVIL}"', *lines[1:]]), encoding="utf-8")
    else:
        (place / "data").mkdir()
    shutil.copytree(ROOT / "data" / "calibration", place / "data" / "calibration", dirs_exist_ok=True)
    paths = Paths(place)
    building.build(paths, loading.load(paths.data))
    assess.assess(paths.database)
    return paths.database


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of the house, a few modelled rows added."""
    path = house(tmp_path_factory.mktemp("house"))
    with duckdb.connect(str(path)) as connection:
        connection.execute((ROOT / "tests" / "data" / "report" / "modelled.sql").read_text(encoding="utf-8"))
    return path


@pytest.fixture
def evil() -> str:
    """The hostile name."""
    return EVIL


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A database without a single record."""
    (tmp_path / "empty").mkdir()
    return house(tmp_path / "empty", with_records=False)


@pytest.fixture
def counted(built: Path):
    """Counts what a query of tests/data/report counts."""

    def ask(name: str) -> int:
        with connect(built) as connection:
            query = (ROOT / "tests" / "data" / "report" / f"{name}.sql").read_text(encoding="utf-8")
            return connection.execute(query).fetchall()[0][0]

    return ask


@pytest.fixture
def source(built: Path) -> Source:
    return Source.open(built)


@pytest.fixture(scope="session")
def pages(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the drawn site."""
    return site.build(Source.open(built), tmp_path_factory.mktemp("site")).parent


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """A browser of the system; on a machine without one these tests are skipped, in CI they fail."""
    if not CHROMIUM and not os.environ.get("CI"):
        pytest.skip("no Chromium on this machine; install it to run the browser tests")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()
