"""The identities against layouts that papers print."""

from typing import Any

import pytest

from schemas.identities import IDENTITIES, apply, within

LLAMA = {"accelerators": 16384, "tp": 8, "cp": 1, "pp": 16, "dp": 128, "layers": 126, "heads": 128}
"""Llama 3.1 405B, arXiv:2407.21783, Table 4, first row."""

DEEPSEEK = {"accelerators": 2048, "pp": 16, "ep": 64, "experts": 256, "layers": 61, "experts_per_token": 8}
"""DeepSeek-V3, arXiv:2412.19437, sections 3.2 and 4.2."""


def outcome(name: str, values: dict[str, Any], withheld: tuple[str, ...] = ()) -> Any:
    made = apply(name, values, withheld)
    assert made is not None
    return made


def test_the_printed_axes_of_llama_multiply_to_its_accelerators() -> None:
    assert outcome("axes-multiply", LLAMA).holds
    assert outcome("axes-multiply", LLAMA | {"dp": 64}).status == "impossible"


def test_layers_that_leave_room_for_embedding_and_head_are_strained() -> None:
    # 126 layers on 128 places: two are missing, and the paper removes one layer each from the first and the last stage.
    made = outcome("layers-divide", LLAMA | {"vpp": 8})
    assert (made.holds, made.status) == (False, "strained")


def test_an_expert_degree_that_is_not_printed_stays_unknown() -> None:
    # 16 stages of 128 accelerators; EP 64 leaves etp * edp = 2, whichever of the two it is.
    made = outcome("expert-axes-multiply", DEEPSEEK)
    assert (made.holds, made.unknown) == (True, ("etp", "edp"))
    assert not outcome("expert-axes-multiply", DEEPSEEK | {"ep": 96}).holds
    assert outcome("expert-axes-multiply", DEEPSEEK | {"edp": 1}).holds  # etp may be 2
    assert not outcome("expert-axes-multiply", DEEPSEEK | {"edp": 1, "etp": 1}).holds


def test_context_parallelism_that_is_withheld_may_be_anything() -> None:
    row = {"accelerators": 1024, "tp": 8, "pp": 4, "dp": 16}
    assert not outcome("axes-multiply", row).holds
    assert outcome("axes-multiply", row, withheld=("cp",)).holds


def test_a_batch_in_binary_millions() -> None:
    # Llama 3.1: 2048 sequences of 8192 tokens are "16M".
    row = {"global_batch": 2048, "seq_len": 8192, "global_batch_tokens": 16e6}
    assert outcome("batch-in-tokens", row).holds
    assert not outcome("batch-in-tokens", row | {"global_batch_tokens": 15e6}).holds


def test_hours_of_two_months_on_2048_accelerators() -> None:
    # DeepSeek-V3: 2.664M hours of pre-training on 2048 H800, "less than two months".
    row = {"accelerators": 2048, "days": 54.2, "accelerator_hours": 2.664e6}
    assert outcome("hours-of-days", row).ratio == pytest.approx(2048 * 54.2 * 24 / 2.664e6)
    assert outcome("hours-of-days", row).holds
    assert outcome("hours-of-days", row | {"days": 90}).status == "plausible"  # with interruptions
    assert not outcome("hours-of-days", row | {"days": 90}).holds


def test_parts_do_not_exceed_the_whole() -> None:
    assert outcome("experts-within", DEEPSEEK).holds
    assert outcome("experts-within", DEEPSEEK | {"experts_per_token": 257}).status == "impossible"


def test_too_little_printed_is_no_outcome() -> None:
    assert apply("heads-divide", {"heads": 128}) is None
    assert apply("axes-multiply", {"accelerators": 16}) is None
    assert apply("tokens-of-steps", {"steps": 10, "tokens": 100}) is None


@pytest.mark.parametrize("name", IDENTITIES)
def test_bands_contain_one_another(name: str) -> None:
    one = IDENTITIES[name]
    assert one.source
    assert within(1.0, one.strict)
    assert one.possible[0] <= one.near[0] <= 1 <= one.near[1] <= one.possible[1]
    assert one.equation.startswith(one.left[0])
