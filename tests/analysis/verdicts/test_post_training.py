"""The checks are about pretraining: a run of post-training is judged by none of them."""

from analysis.verdicts import CHECKS, not_judged
from schemas.reasons import sentence


def test_every_check_of_a_run_is_unknown_with_a_sentence() -> None:
    found = list(not_judged("run"))
    assert {one.check_name for one in found} == {name for name, one in CHECKS.items() if one.scope == "run"}
    assert {one.status for one in found} == {"unknown"}
    assert all("post-training" in sentence(one.check_name, one.reason, one.values) for one in found)
