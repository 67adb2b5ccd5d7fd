"""The integration reads and does not write; it runs what was pinned, and no text of a pull request as shell."""

import re
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).parents[1] / ".github"
WORKFLOWS = sorted((FOLDER / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_starts_with_no_more_than_reading(path):
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] in ({}, {"contents": "read"})


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_and_shell_gets_names_from_the_environment(path):
    jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"]
    for step in (step for job in jobs.values() for step in job["steps"]):
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step.get("uses", f"a/b@{'0' * 40}"))
        assert "${{" not in step.get("run", "")
        assert not step.get("with", {}).get("persist-credentials", False)


def test_what_judges_a_record_has_an_owner():
    owned = (FOLDER / "CODEOWNERS").read_text("utf-8")
    judges = (
        ".github",
        ".ci",
        "Makefile",
        "requirements.txt",
        "tests",
        "data/claims",
        "data/calibration",
        "data/exceptions.yaml",
    )
    assert [name for name in judges if f"\n/{name}" not in owned] == []
