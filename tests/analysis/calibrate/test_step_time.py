"""The fit finds constants that made the rows, holds to its priors, and judges itself on sources it has not seen."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.calibrate import left_out
from analysis.calibrate import step_time as calibration
from analysis.engine.predict import predict
from analysis.engine.timing_constants import FitSettings
from analysis.records.constants import flatten, read, with_values

from ..engine.shipped import CALIBRATION as SHIPPED
from ..engine.test_rates import ACCELERATORS
from ..rows import table

SETTINGS = read(FitSettings, "fit", SHIPPED["fit"])


def pinned_but(*free: str) -> dict[str, Any]:
    """The shipped file with only some constants left to fit, each with a wide prior."""

    def strip(part: dict[str, Any], prefix: str) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, item in part.items():
            if "value" not in item:
                out[key] = strip(item, f"{prefix}{key}.")
            else:
                kept = {k: v for k, v in item.items() if k not in ("prior", "spread")}
                wide = {"prior": item["value"], "spread": 2.0}
                out[key] = kept | (wide if prefix + key in free else {})
        return out

    return strip(SHIPPED, "")


def measured(truth: dict[str, float], sources: int = 3) -> pd.DataFrame:
    """Rows whose step times the engine itself makes with other constants."""
    made = with_values(SHIPPED, truth)
    changes = [
        {"id": f"{s}-{i}", "seq_len": 2048 * 4**i, "hidden": 2048 + 1024 * s, "head_dim": 128, "vpp": 1, "stack": None}
        for s in range(sources)
        for i in range(3)
    ]
    rows = table(*changes)
    times = predict(rows, ACCELERATORS, made)["step_time_s"]
    return rows.assign(step_time_s=times, source=[f"lab-{c['id'][0]} report" for c in changes])


def test_the_fit_recovers_the_constants_that_made_the_rows() -> None:
    truth = {"products.gemm.hopper.bf16": 0.65, "attention.flash.hopper": 0.55}
    found = left_out.fit(measured(truth), ACCELERATORS, pinned_but(*truth))
    assert found.values == pytest.approx(truth, rel=0.01)
    assert found.table["fitted"].abs().max() < 0.01
    assert found.table["left_out"].abs().max() < 0.05


def test_pinned_constants_stay() -> None:
    found = left_out.fit(
        measured({"products.gemm.hopper.bf16": 0.65}), ACCELERATORS, pinned_but("products.gemm.hopper.bf16")
    )
    assert list(found.values) == ["products.gemm.hopper.bf16"]
    after = flatten(left_out.updated(SHIPPED, found))
    before = flatten(SHIPPED)
    changed = {n for n in after if after[n] != before.get(n)}
    assert {n for n in changed if n.split(".")[0] not in ("intervals", "measured")} == {"products.gemm.hopper.bf16"}


def test_the_same_rows_give_the_same_fit() -> None:
    rows = measured({"products.gemm.hopper.bf16": 0.65})
    free = pinned_but("products.gemm.hopper.bf16", "elementwise.passes")
    one, two = (left_out.fit(rows, ACCELERATORS, free).values for _ in range(2))
    assert one == two


def test_a_single_wild_row_does_not_move_the_fit() -> None:
    rows = measured({"products.gemm.hopper.bf16": 0.65})
    rows.loc[0, "step_time_s"] *= 5
    found = left_out.fit(rows, ACCELERATORS, pinned_but("products.gemm.hopper.bf16"))
    assert found.values["products.gemm.hopper.bf16"] == pytest.approx(0.65, rel=0.04)


def test_strong_priors_hold_against_few_rows() -> None:
    rows = measured({"products.power.exponent": 2.0})
    found = left_out.fit(rows, ACCELERATORS, SHIPPED)
    prior = SHIPPED["products"]["power"]["exponent"]["prior"]
    assert found.values["products.power.exponent"] == pytest.approx(prior, rel=0.2)


def test_rows_without_a_time_or_a_layout_are_left_out() -> None:
    rows = measured({})
    rows.loc[0, "step_time_s"] = np.nan
    rows.loc[1, "tp"] = 3
    assert len(calibration.usable(rows, ACCELERATORS, SHIPPED)) == len(rows) - 2


def test_a_family_is_left_out_whole() -> None:
    rows = measured({}).assign(family="one")
    found = left_out.fit(rows, ACCELERATORS, pinned_but("products.gemm.hopper.bf16"))
    # nothing is left to fit, so the left-out prediction is the prior
    prior = found.table["left_out"]
    assert prior.abs().max() < 1e-3


@pytest.mark.parametrize(
    ("source", "family"),
    [
        ("nvidia-dgxc-v25.02-llama3.1-8b", "nvidia-dgxc"),
        ("megatron-bridge-25.11-nemo-container-performance-summary", "megatron-bridge"),
        ("Zero Bubble Pipeline Parallelism (arXiv 2401.10241)", "zero-bubble"),
    ],
)
def test_tables_of_one_series_are_one_family(source: str, family: str) -> None:
    assert calibration.family_of(source) == family


def test_a_long_table_weighs_as_the_root_of_its_rows() -> None:
    weight = calibration.family_weights(pd.Series(["long"] * 9 + ["short"]))
    assert weight.sum() == pytest.approx(10)
    assert weight[:9].sum() / weight[9] == pytest.approx(3)


def test_the_fit_leans_to_families_not_to_rows() -> None:
    # nine rows made with 0.70, one with 0.60: three to one in weight, not nine to one
    slow, fast = measured({"products.gemm.hopper.bf16": 0.60}, 1), measured({"products.gemm.hopper.bf16": 0.70})
    rows = pd.concat([fast.assign(source="long table"), slow.iloc[:1].assign(source="short table", id="x")])
    free = pinned_but("products.gemm.hopper.bf16")
    table_of_all = calibration.usable(rows, ACCELERATORS, free)
    problem = calibration.prepare(table_of_all, ACCELERATORS, free)
    by_family = calibration.fit_values(problem, SETTINGS)["products.gemm.hopper.bf16"]
    by_row = calibration.fit_values(replace(problem, families=pd.Series(["one"] * 10)), SETTINGS)[
        "products.gemm.hopper.bf16"
    ]
    assert by_family < by_row < 0.70


def test_loss_is_square_near_zero_and_linear_far_away() -> None:
    near, far, farther = calibration.pseudo_huber(np.array([0.01, 100.0, 400.0])) ** 2
    assert near == pytest.approx(1e-4, rel=1e-3)
    assert farther / far == pytest.approx(4.0, rel=0.02)
