"""Layouts that ran and layouts that ran out of memory, told apart."""

import pandas as pd

from analysis.assess.tried import beside, confusion

TABLE = pd.DataFrame({
    "benchmark_id": ["a"] * 5, "id": list("12345"), "family": ["A"] * 5, "card_gib": [80.0, 80.0, 80.0, 80.0, None],
    "outcome": ["ran", "oom", "oom", "oom", "ran"],
})  # fmt: skip
FOUND = pd.DataFrame({"memory_gib": [70, 79, 85, 120, 50], "memory_gib_low": [60, 70, 75, 90, 40]})


def test_each_layout_is_held_against_its_card() -> None:
    rows = list(beside(TABLE, FOUND))
    assert [(row["row"], row["fits"], row["sure"]) for row in rows] == [
        ("1", True, False),
        ("2", True, False),
        ("3", False, False),
        ("4", False, True),
    ]


def test_the_shares_are_of_their_own_outcome() -> None:
    # of three layouts that ran out of memory one is called fitting, two are refused, one of them surely
    shares = confusion(pd.DataFrame(list(beside(TABLE, FOUND))))
    assert shares == {
        "layouts": 4,
        "oom": 3,
        "accuracy": 3 / 4,
        "oom_called_fitting": 1 / 3,
        "ran_called_oom": 0,
        "oom_surely_refused": 1 / 3,
        "ran_surely_refused": 0,
    }
