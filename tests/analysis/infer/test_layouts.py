"""Layouts that were published, inferred without them."""

import pytest

from analysis.infer.layouts import Shared, contains, infer
from analysis.records.spans import as_span
from schemas.refusal import RefusalError

H100 = "nvidia/h100-sxm-80gb"
LLAMA_405B = {
    # arXiv:2407.21783, Table 4, second row: 16,384 GPUs, 8,192 tokens, 16M tokens per batch, MFU 41 %.
    "accelerator": H100, "accelerators": as_span(16384), "seq_len": 8192, "global_batch": as_span(2048),
    "precision": "bf16", "reported_mfu": as_span(0.41), "reported_mfu_basis": "causal", "peak_tflops": 989.5,
    "flop_causal": 6 * 405e9 * 1.1, "scale_up_domain": 8,
}  # fmt: skip
DEGREES = {"tp": 8, "cp": 1, "pp": 16, "dp": 128}


def test_the_published_degrees_are_among_what_is_left_without_them(catalogue):
    made = infer(LLAMA_405B, catalogue.models["meta/llama-3.1-405b"], catalogue)
    assert contains(made, DEGREES)
    assert len(made.consistent) < made.legal
    assert made.narrows is not None


def test_every_consistent_layout_of_405b_interleaves_or_fills_its_bubble(catalogue):
    # One virtual stage caps utilisation at 51.6 % (PP 16, 16 micro-batches): 41 % would leave no loss but the bubble.
    made = infer(LLAMA_405B | DEGREES, catalogue.models["meta/llama-3.1-405b"], catalogue)
    assert (made.consistent["schedule"] != "1f1b").all()
    assert any(shared.fact == "schedule" for shared in made.shared)


def test_a_large_model_needs_tensor_or_pipeline_parallelism(catalogue):
    # 405e9 parameters x 2 B are 10 cards of 80 GB before anything else is kept.
    made = infer(LLAMA_405B, catalogue.models["meta/llama-3.1-405b"], catalogue)
    alone = (made.consistent["tp"] * made.consistent["pp"] < 8) & (made.consistent["zero_stage"] < 3)
    assert not alone.any()


def test_a_whole_run_bounds_the_speed_from_below_only(catalogue):
    silent = {name: value for name, value in LLAMA_405B.items() if not name.startswith("reported")}
    free = infer(silent, catalogue.models["meta/llama-3.1-405b"], catalogue)
    run = {"tokens": as_span(15.6e12), "accelerator_hours": as_span(30.84e6), "peak_tflops": 989.5,
           "flop_causal": 6 * 405e9}  # fmt: skip
    bound = infer(silent, catalogue.models["meta/llama-3.1-405b"], catalogue, run)
    assert (free.speed, len(free.consistent) >= len(bound.consistent)) == (None, True)
    # 6 x 405e9 x 15.6e12 / (30.84e6 h x 989.5e12) = 34.5 %
    assert bound.speed == pytest.approx(0.345, abs=0.001)


def test_a_speed_that_no_layout_reaches_is_named_beside_what_the_engine_expects(catalogue):
    # One virtual stage over 16 micro-batches idles 15/31 of the step, so 99 % of the peak cannot be.
    made = infer(
        LLAMA_405B | DEGREES | {"reported_mfu": as_span(0.99)}, catalogue.models["meta/llama-3.1-405b"], catalogue
    )
    assert made.consistent.empty
    assert made.none_left.endswith("99.0% is reported")


@pytest.mark.parametrize("name", ["accelerators", "seq_len", "global_batch", "accelerator"])
def test_what_nothing_can_be_inferred_without_is_named(catalogue, name):
    less = {key: value for key, value in LLAMA_405B.items() if key != name}
    with pytest.raises(RefusalError, match=f"{name} not disclosed"):
        infer(less, catalogue.models["meta/llama-3.1-405b"], catalogue)


def test_facts_in_words():
    assert Shared("pp", (2, 4, 8)).text() == "PP is 2 to 8"
    assert Shared("micro_batch", (1,)).text() == "micro batch is 1"
