"""Speeds as rates and as shares of their budgets; run by `make bench`."""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pandas as pd

from etl.checks.runner import examine
from etl.records import schema
from etl.records.loading import load

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


def predict_seconds(rows: int) -> float:
    """Seconds to predict a table of so many layouts, made of the recorded ones over and over; reading CSV apart."""
    from analysis.engine.predict import predict
    from analysis.records.load import load as catalogue
    from analysis.records.load import measured_rows
    from etl.database import building
    from etl.paths import Paths

    with building.memory(Paths(ROOT), ("accelerator", "system", "model", "benchmark", "calibration")) as connection:
        known, table = catalogue(connection), measured_rows(connection)
    text = table.astype(str).where(table.notna(), "")
    many = pd.concat([text] * (rows // len(text) + 1), ignore_index=True).head(rows)
    return timed(lambda: predict(many, known.accelerators, known.constants))


def plan_rate(model: str, accelerators: int, seq_len: int, batch: int, part: str) -> tuple[int, float]:
    """Legal layouts of a plan, and the seconds it takes to rank them."""
    from analysis.plan.question import Question
    from analysis.plan.ranking import plan
    from analysis.records.load import load as catalogue
    from etl.database import building
    from etl.paths import Paths

    with building.memory(Paths(ROOT), ("accelerator", "system", "model", "calibration")) as connection:
        known = catalogue(connection)
    ask = Question(known.models[model], part, accelerators, seq_len, batch, domain=8)
    start = time.perf_counter()
    return plan(ask, known).legal, time.perf_counter() - start


def import_seconds(files: int) -> float:
    """Seconds to import so many configs in one process."""
    config = {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
              "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for number in range(files):
            text = json.dumps(config | {"num_hidden_layers": 16 + number % 64})
            (Path(folder) / f"config-{number}.json").write_text(text, "utf-8")
        return timed(lambda: run("import", folder, "--each", "--json"))


FIT = ("fit", "meta/llama-3.1-405b", "--accelerator", "nvidia/h100-sxm-80gb", "--accelerators", "16384", "--tp", "8",
       "--pp", "16", "--seq-len", "8192", "--global-batch", "2048")  # fmt: skip
OTHERS = """
One evaluation by public estimators, as their projects or users report: 7 us (memory and FLOP only), 250 us, 1.9 ms,
38 to 76 ms. A layout search elsewhere runs 22 to 143 layouts a second.
"""


def main() -> None:
    """Measure and print."""
    seconds = check_seconds()
    show("check, 1,000 synthetic runs", f"{RECORDS / seconds:,.0f} records/s", seconds, 5)
    seconds = min(timed(lambda: run("--help")) for _ in range(3))
    show("shardbook --help", "best of 3", seconds, 0.4)
    runs = len(load(ROOT / "data")["run"])
    steps = [timed(lambda step=step: run(step)) for step in ("build", "assess", "report")]
    for name, spent in zip(("build", "assess", "report"), steps, strict=True):
        show(f"  {name}", f"{runs / spent:,.0f} runs/s", spent, 15)
    show("build + assess + report", f"{runs / sum(steps):,.1f} runs/s", sum(steps), 15)
    seconds = min(timed(lambda: run(*FIT)) for _ in range(3))
    show("shardbook fit", "best of 3", seconds, 1)
    seconds = import_seconds(1000)
    show("import, 1,000 configs", f"{1000 / seconds:,.0f} files/s", seconds, 5)
    seconds = predict_seconds(1_000_000)
    show("predict, 1,000,000 layouts", f"{1e6 / seconds:,.0f} rows/s", seconds, 10)
    # The space of the two searches quoted below: GPT-3 175B on 64 accelerators.
    for model, count, length, batch, part in (
        ("openai/gpt-3-175b", 64, 2048, 512, "nvidia/h100-sxm-80gb"),
        ("meta/llama-3.1-405b", 16384, 8192, 2048, "nvidia/h100-sxm-80gb"),
    ):
        legal, seconds = plan_rate(model, count, length, batch, part)
        show(f"plan {model.split('/')[1]} on {count}", f"{legal / seconds:,.0f} of {legal:,} layouts/s", seconds, 10)
    sys.stdout.write(OTHERS)


if __name__ == "__main__":
    main()
