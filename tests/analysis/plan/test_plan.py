"""Plans: the space is legal and holds the published layouts; what empties it is named with the nearest relaxation."""

import numpy as np
import pytest

from analysis.plan.question import EmptySpaceError, Question, check_fixed, check_model
from analysis.plan.ranking import front, plan
from analysis.plan.sizes import Price, Wishes, chosen, parse_price, parse_sizes, sweep, takes
from analysis.plan.space import layouts
from schemas.refusal import RefusalError

H100, H800 = "nvidia/h100-sxm-80gb", "nvidia/h800-sxm-80gb"


def question(catalogue, model="meta/llama-3.1-8b", count=64, batch=512, length=8192, part=H100, **fixed):
    return Question(catalogue.models[model], part, count, length, batch, domain=8, fixed=fixed)


@pytest.fixture(scope="module")
def llama_405b(catalogue):
    return layouts(question(catalogue, "meta/llama-3.1-405b", 16384, 2048))


def test_every_layout_multiplies_and_divides(llama_405b):
    one = llama_405b
    assert (one.tp * one.cp * one.pp * one.dp == 16384).all()
    assert (2048 % (one.dp * one.micro_batch) == 0).all()
    assert (128 % one.tp == 0).all()
    assert (one.tp <= 8).all()
    chunks = one.cp * np.lcm(np.where(one.cp > 1, 2, 1), np.where(one.sequence_parallel, one.tp, 1))
    assert (8192 % chunks == 0).all()
    assert not one.drop(columns="id").duplicated().any()


def test_a_hundred_thousand_layouts_of_405b(llama_405b):
    assert len(llama_405b) >= 100_000


def test_the_published_layout_is_among_them(llama_405b):
    # arXiv:2407.21783, Table 4, second row: TP 8, CP 1, PP 16, DP 128 on 16,384 GPUs, 8,192 tokens.
    one = llama_405b
    assert ((one.tp == 8) & (one.cp == 1) & (one.pp == 16) & (one.dp == 128)).any()


def test_the_layout_of_deepseek_v3_is_among_its_own(catalogue):
    # arXiv:2412.19437, section 3.2: PP 16, EP 64, ZeRO-1, no TP, on 2,048 H800.
    ask = question(catalogue, "deepseek/deepseek-v3", 2048, 15360, 4096, H800, recompute="full", pp=16, tp=1)
    one = layouts(ask)
    assert ((one.ep == 64) & (one.zero_stage == 1) & (one.cp == 1)).any()


def test_a_plan_ranks_by_time_and_keeps_what_fits(catalogue):
    found = plan(question(catalogue), catalogue)
    assert found.ranked["step_time_s"].is_monotonic_increasing
    assert (found.ranked["memory_gib"] <= found.card_gib).all()
    assert found.legal == len(found.ranked) + found.dropped + found.unknown
    assert 1 <= found.alike <= len(found.ranked)
    assert found.ranked["front"].iloc[0]
    sure = found.ranked["fits"] == "sure"
    assert (found.ranked["memory_gib_high"][sure] <= found.card_gib).all()


def test_nothing_on_the_front_is_beaten_in_both():
    assert front(np.array([70.0, 75.0, 40.0, 41.0])).tolist() == [True, False, True, False]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tp": 3}, "TP 3 does not divide 64 accelerators; the nearest number that it divides: 63"),
        ({"tp": 8, "pp": 16}, "TP 8 x PP 16 = 128 does not divide 64"),
        ({"dp": 64, "batch": 61}, "global batch of 61 divides by no DP .* nearest batch that does: 64"),
        ({"cp": 2, "length": 4099}, "4,099 tokens does not divide by CP 2; the nearest that does: 4,096"),
        ({"pp": 2, "zero_stage": 3}, "ZeRO 2 and 3 are not planned with pipelines"),
    ],
)
def test_what_empties_the_space_is_named(catalogue, change, words):
    with pytest.raises(EmptySpaceError, match=words):
        plan(question(catalogue, **change), catalogue)


def test_a_model_that_fits_nowhere_says_what_would_hold_it(catalogue):
    # 405e9 x (2 + 4) bytes of weights and gradients alone are 2.4e12, thirty cards of 80e9.
    with pytest.raises(EmptySpaceError, match=r"nothing fits: .* on 8 x .*; (32|64|128) accelerators would"):
        plan(question(catalogue, "meta/llama-3.1-405b", 8, 64), catalogue)


def test_a_model_without_heads_is_named():
    with pytest.raises(EmptySpaceError, match="Tiny has no heads on record; give its config"):
        check_model({"name": "Tiny", "layers": 2, "hidden": 64, "vocab": 100})


@pytest.mark.parametrize("name", ["stack", "global_batch", "layers_per_stage", "optimizer"])
def test_a_given_column_that_a_plan_does_not_read_is_refused(name):
    with pytest.raises(EmptySpaceError, match=f"--fix {name} changes nothing"):
        check_fixed({"tp": 8, name: 1}, {})


def test_experts_cannot_be_cut_where_there_are_none():
    with pytest.raises(EmptySpaceError, match="--fix ep=8 cuts experts, and the model has none"):
        check_fixed({"ep": 8}, {"layers": 32})
    check_fixed({"ep": 8, "etp": 1}, {"layers": 61, "experts": 256})


def test_every_column_that_can_be_given_is_kept_in_all_layouts(catalogue):
    given = {"tp": 4, "cp": 2, "pp": 2, "vpp": 2, "dp": 4, "micro_batch": 1, "zero_stage": 1, "recompute": "full",
             "schedule": "interleaved"}  # fmt: skip
    table = layouts(question(catalogue, **given))
    assert all(set(table[name]) == {value} for name, value in given.items())


def test_seven_accelerators_have_layouts(catalogue):
    assert set(plan(question(catalogue, count=7, batch=64), catalogue).ranked["pp"]) <= {1, 7}


@pytest.mark.parametrize("text", ["3", "USD", "2,5 USD", ""])
def test_a_price_needs_its_currency(text):
    with pytest.raises(RefusalError, match="with its currency, such as"):
        parse_price(text)


def test_prices_and_sizes_as_they_are_written():
    assert parse_price("$2.50/h") == Price(2.5, "$")
    assert parse_price("3 EUR") == Price(3.0, "EUR")
    assert parse_sizes("256..4096") == [256, 512, 1024, 2048, 4096]
    assert parse_sizes("100..250") == [100, 200, 250]
    with pytest.raises(RefusalError, match=r"such as 1024, or a range such as 256\.\.4096"):
        parse_sizes("many")


def test_the_smallest_cluster_in_time_and_what_a_budget_pays(catalogue):
    plans = sweep(question(catalogue), [16, 32, 64], catalogue)
    days = [takes(one, Wishes(tokens=1e12), catalogue).days.best for one in plans]
    assert days == sorted(days, reverse=True)
    wish = Wishes(tokens=1e12, deadline=(days[0] + days[1]) / 2)
    assert chosen(plans, wish, catalogue).question.accelerators == 32
    assert chosen(plans, Wishes(), catalogue).question.accelerators == 64
    with pytest.raises(RefusalError, match="the fastest of 3 sizes takes"):
        chosen(plans, Wishes(tokens=1e12, deadline=days[2] / 2), catalogue)
    with pytest.raises(RefusalError, match="add --tokens"):
        chosen(plans, Wishes(deadline=3.0), catalogue)
    with pytest.raises(RefusalError, match="needs --price"):
        chosen(plans, Wishes(tokens=1e12, budget=1e6), catalogue)
    with pytest.raises(RefusalError, match="the cheapest of 3 sizes costs"):
        chosen(plans, Wishes(tokens=1e12, budget=1.0, price=Price(2.0, "USD")), catalogue)
