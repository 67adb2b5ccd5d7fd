"""Arithmetic between fields, on layouts and amounts as published; the products are worked out in the comments."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from etl.checks.registry import RULES
from etl.checks.runner import subject
from etl.checks.subject import Context
from etl.records import schema
from etl.records.canonical import dump
from etl.records.loading import Catalogue, Record
from etl.yaml import reader

ROOT = Path(__file__).parents[3]
SCHEMAS = schema.load(ROOT / "schemas")


def record(kind: str, key: str, value: dict[str, Any]) -> Record:
    return Record(kind, key, Path("x.yaml"), reader.parse(dump(value).encode(), f"data/{kind}s/{key}.yaml"))


def said(code: str, value: dict[str, Any], model: dict[str, Any] | None = None, kind: str = "run") -> list[str]:
    """Messages of one rule on a record."""
    context = Context(Catalogue(ROOT / "data"), SCHEMAS, date(2026, 8, 1))
    if model:
        context.catalogue.add(record("model", "a/b", model))
    one = subject(record(kind, "a/b", value), context)
    one.value = one.record.value
    rule = RULES[code].run
    assert rule is not None
    return [finding.message for finding in rule(one)]


def phase(**fields: Any) -> dict[str, Any]:
    return {"model": "a/b", "phases": [{"name": "main", **fields}]}


PUBLISHED = [
    # Llama 3 paper v3, Table 4: 8*1*16*64 = 8,192; 8*1*16*128 = 16,384; 8*16*16*8 = 16,384
    (8192, {"tp": 8, "cp": 1, "pp": 16, "dp": 64}),
    (16384, {"tp": 8, "cp": 1, "pp": 16, "dp": 128}),
    (16384, {"tp": 8, "cp": 16, "pp": 16, "dp": 8}),
    # BLOOM paper sec. 3.4: 4*12*8 = 384, CP did not exist
    (384, {"tp": 4, "pp": 12, "dp": 8}),
    # MT-NLG paper sec. 2.3: 280 GPUs per replica, 8, 10 or 12 replicas
    (2240, {"tp": 8, "pp": 35, "dp": 8}),
    (3360, {"tp": 8, "pp": 35, "dp": 12}),
]


@pytest.mark.parametrize(("accelerators", "layout"), PUBLISHED)
def test_published_layouts_multiply_to_their_accelerators(accelerators: int, layout: dict[str, int]) -> None:
    assert said("SUM001", phase(accelerators=accelerators, layout=layout)) == []
    assert len(said("SUM001", phase(accelerators=accelerators + 8, layout=layout))) == 1


def test_the_first_version_of_llama_3_table_4_is_told_its_product() -> None:
    layout = {"tp": 8, "cp": 16, "pp": 16, "dp": 4}
    assert said("SUM001", phase(accelerators=16384, layout=layout)) == [
        "tp 8 * cp 16 * pp 16 * dp 4 = 8,192, which is not accelerators: 16,384"
    ]


def test_an_axis_that_is_not_printed_may_take_up_the_rest() -> None:
    assert said("SUM001", phase(accelerators=1024, layout={"tp": 8, "pp": 16})) == []
    assert said("SUM001", phase(accelerators=1000, layout={"tp": 8, "pp": 16})) == [
        "tp 8 * pp 16 = 128, which does not divide accelerators: 1,000"
    ]


def test_a_missing_cp_is_taken_up_only_where_the_record_says_it_is_not_disclosed() -> None:
    layout = {"tp": 8, "pp": 16, "dp": 64}
    assert len(said("SUM001", phase(accelerators=16384, layout=layout))) == 1
    assert said("SUM001", phase(accelerators=16384, layout=layout, not_disclosed=["cp"])) == []


def test_a_range_of_accelerators_is_not_multiplied() -> None:
    assert said("SUM001", phase(accelerators={"low": 1000, "high": 2000}, layout={"tp": 8, "pp": 3, "dp": 5})) == []


def test_expert_axes_of_deepseek_v3_multiply_to_its_2048_gpus() -> None:
    # DeepSeek-V3 report sec. 3.2: PP 16, EP 64 over 8 nodes; 64 * 16 = 1,024, so two copies of the experts
    layout = {"tp": 1, "pp": 16, "dp": 128, "ep": 64, "etp": 1, "edp": 2}
    assert said("SUM002", phase(accelerators=2048, layout=layout)) == []
    assert said("SUM002", phase(accelerators=2048, layout={**layout, "edp": 4})) == [
        "etp 1 * ep 64 * pp 16 * edp 4 = 4,096, which is not accelerators: 2,048"
    ]


def test_uneven_stages_of_llama_3_sum_to_126_layers() -> None:
    # sec. 3.3.2: one layer less on the first and the last stage: 7 + 14 * 8 + 7 = 126
    split = [7, *[8] * 14, 7]
    model = {"layers": 126, "heads": 128}
    assert said("SUM003", phase(layout={"pp": 16, "layers_per_stage": split}), model) == []
    assert said("SUM003", phase(layout={"pp": 16, "layers_per_stage": split[:-1]}), model) == [
        "layers_per_stage has 15 entries, and pp is 16",
        "layers_per_stage sums to 119, and the model has 126 layers",
    ]


def test_layers_that_do_not_divide_need_a_printed_split() -> None:
    # BLOOM: 70 layers on 12 stages
    assert said("SUM004", phase(layout={"pp": 12}), {"layers": 70}) == ["70 layers do not divide by pp * vpp = 12"]
    assert said("SUM004", phase(layout={"pp": 12}, not_disclosed=["layers_per_stage"]), {"layers": 70}) == []
    assert said("SUM004", phase(layout={"pp": 8, "vpp": 4}), {"layers": 96}) == []


@pytest.mark.parametrize(("printed", "findings"), [(16777216, 0), (16e6, 0), (32e6, 1), (16777215, 1)])
def test_a_batch_in_tokens_is_compared_to_the_digits_printed(printed: float, findings: int) -> None:
    # 2,048 * 8,192 = 16,777,216, which the paper prints as 16M
    value = phase(global_batch=2048, seq_len=8192, global_batch_tokens=printed)
    assert len(said("SUM005", value)) == findings


@pytest.mark.parametrize(("days", "findings"), [(54.2, 0), (54, 0), (61, 1), (27, 1)])
def test_hours_of_deepseek_v3_are_2048_gpus_for_54_days(days: float, findings: int) -> None:
    # 2,048 * 54.2 * 24 = 2,664,038 h, printed as 2664K
    value = phase(accelerators=2048, days=days, accelerator_hours=2.664e6)
    assert len(said("SUM009", value)) == findings


@pytest.mark.parametrize(("tokens", "findings"), [(4.72e11, 0), (4.0e11, 0), (2.5e11, 1), (6.1e11, 1)])
def test_tokens_of_gpt_neox_20b_are_150000_steps_of_3_15m(tokens: float, findings: int) -> None:
    # 150,000 * 3.15e6 = 4.725e11; a ramp may leave a fifth less
    value = {**phase(steps=150000, global_batch_tokens=3.15e6), "totals": {"tokens": tokens}}
    assert len(said("SUM008", value)) == findings


def test_ranges_rise_from_low_to_high() -> None:
    rising = {"totals": {"tokens": {"low": 1, "best": 2, "high": 3}}}
    falling = {"totals": {"tokens": {"low": 1, "best": 4, "high": 3}}}
    assert said("SUM010", rising) == []
    assert said("SUM010", falling) == ["the range 1, 4, 3 does not rise from low to high"]


@pytest.mark.parametrize(
    ("name", "total", "findings"),
    [
        ("Llama 2 70B", 68.98e9, 0),
        ("Mixtral 8x7B", 46.7e9, 0),
        ("Qwen3-30B-A3B", 30.5e9, 0),
        ("Gemma 7B", 8.54e9, 0),
        ("OPT-175B", 175e8, 1),
        ("Kimi K2", 1.04e12, 0),
        ("Grok-1 314B", 314, 1),
    ],
)
def test_a_size_in_the_name_is_near_the_parameters(name: str, total: float, findings: int) -> None:
    assert len(said("SUM012", {"name": name, "params_total": total}, kind="model")) == findings


@pytest.mark.parametrize(
    ("start", "end", "findings"),
    [("2024-03", "2024-03-15", 0), ("2024", "2024-01", 0), ("2024-03-16", "2024-03-15", 1), ("2024-04", "2024-03", 1)],
)
def test_periods_known_to_the_month_or_year_are_read_generously(start: str, end: str, findings: int) -> None:
    assert len(said("SUM014", {"started": start, "ended": end})) == findings


def test_a_date_of_this_year_is_not_in_the_future() -> None:
    assert said("SUM015", {"released": "2026"}) == []
    assert said("SUM015", {"released": "2026-08-01"}) == []
    assert len(said("SUM015", {"released": "2026-08-02"})) == 1


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("SUM030", {"totals": {"tokens": 1e30}}),
        ("SUM030", {"totals": {"tokens": 1}}),
        ("SUM030", {"totals": {"compute_flop": 1e35}}),
        ("SUM030", {"totals": {"energy_mwh": 1e30}}),
        ("SUM030", {"totals": {"emissions_tco2e": 1e-30}}),
        ("SUM030", {"totals": {"cost_usd": 1e-9}}),
        ("SUM030", phase(accelerators=10**12, layout={"tp": 8, "pp": 4, "dp": 31250000000})),
        ("SUM030", phase(seq_len=10**14)),
        ("SUM030", phase(micro_batch=10**9)),
        ("SUM030", phase(reported={"tflops_per_accelerator": 1e-9, "mfu": 0.64})),
        ("SUM031", phase(reported={"mfu": {"low": 0.1, "high": 0.99}})),
        ("SUM031", {"totals": {"tokens": {"low": 1e6, "best": 2e12, "high": 1e15}}}),
        ("SUM027", {"totals": {"days": 1e9}}),
        # 5 steps of 32 sequences of 2,048 tokens are 327,680 tokens, half of those printed
        ("SUM008", phase(steps=5, global_batch=32, seq_len=2048, tokens=655360)),
        # 128 x 4,096 / 6.55 s = 80,043 tokens a second
        ("SUM032", phase(seq_len=4096, global_batch=128, reported={"step_time_s": 6.55, "tokens_per_s": 20000})),
        (
            "SUM032",
            phase(
                accelerators=8,
                global_batch_tokens=524288,
                reported={"step_time_s": 6.55, "tokens_per_s_per_accelerator": 2500},
            ),
        ),
    ],
)
def test_what_no_run_can_print_is_a_finding(code: str, value: dict[str, Any]) -> None:
    assert len(said(code, {"model": "a/b", **value})) == 1


def test_speeds_that_agree_are_none() -> None:
    reported = {"step_time_s": 6.55, "tokens_per_s": 80043}
    assert said("SUM032", phase(seq_len=4096, global_batch=128, reported=reported)) == []


def test_limits_of_records_are_those_of_layouts() -> None:
    from analysis.layout.parse import LARGEST
    from schemas.limits import LIMITS

    assert all(LIMITS[name].most == most for name, most in LARGEST.items())
    assert {"layers", "accelerators", "seq_len"} <= set(LARGEST)
