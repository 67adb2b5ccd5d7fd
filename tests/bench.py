"""Speeds as rates and as shares of their budgets; run by `make bench`."""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from etl import schema
from etl.checks.runner import examine
from etl.records import load

ROOT = Path(__file__).parents[1]
RECORDS = 1000
FRONT = [sys.executable, "-c", "import shardbook; shardbook.main()"]


def timed(work: Callable[[], object]) -> float:
    """Seconds of wall clock that a piece of work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def synthetic(data: Path) -> None:
    """A thousand runs that differ in name and date, beside the records that they point at."""
    shutil.copytree(ROOT / "tests" / "data" / "valid", data)
    text = (data / "runs" / "acme" / "alpha.yaml").read_text("utf-8")
    text = text.replace("started: 2024-03\nended: 2024-04\n", "")
    for number in range(RECORDS):
        day = date.fromordinal(date(2023, 3, 1).toordinal() + number).isoformat()
        other = text.replace("name: Alpha 8B", f"name: Alpha {number}").replace(
            "released: 2024-06-01", f"released: {day}"
        )
        (data / "runs" / "acme" / f"run-{number}.yaml").write_text(other, "utf-8")


def check_seconds() -> float:
    """Seconds of one core to read and check the synthetic records."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        synthetic(data)
        start = time.process_time()
        examine(load(data), schema.load(ROOT / "schemas"), date(2026, 8, 1))
        return time.process_time() - start


def run(*words: str) -> None:
    """One command of the front door."""
    done = subprocess.run([*FRONT, *words], cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"bench: shardbook {' '.join(words)} failed: {done.stderr.strip()[-300:]}")


def show(what: str, rate: str, seconds: float, budget: float) -> None:
    """One line of the table."""
    sys.stdout.write(f"{what:28} {rate:>22} {seconds:8.2f} s {seconds / budget:6.0%} of {budget:g} s\n")


def main() -> None:
    """Measure and print."""
    seconds = check_seconds()
    show("check, 1,000 synthetic runs", f"{RECORDS / seconds:,.0f} records/s", seconds, 5)
    seconds = min(timed(lambda: run("--help")) for _ in range(3))
    show("shardbook --help", "best of 3", seconds, 0.4)
    runs = len(load(ROOT / "data")["run"])
    steps = [timed(lambda step=step: run(step)) for step in ("build", "assess", "report")]
    show("build + assess + report", f"{runs / sum(steps):,.1f} runs/s", sum(steps), 15)


if __name__ == "__main__":
    main()
