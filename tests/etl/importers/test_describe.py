"""The page on formats says what the readers state and nothing else."""

from etl.importers import describe
from etl.importers.formats_list import formats


def section(name: str) -> str:
    return describe.page().split(f"\n## `{name}`\n")[1].split("\n## ")[0]


def test_every_format_has_its_section():
    page = describe.page()
    assert all(f"\n## `{row.name}`\n" in page for row in formats())


def test_a_model_config_states_no_layout():
    text = section("hf_config")
    assert "`layers`" in text
    assert "`tp`" not in text


def test_defaults_are_named_with_their_reason():
    assert "Default of `tp`: torchtitan: degrees are 1." in section("torchtitan_toml")
    assert "Default of `kv_heads`" in section("nemo_yaml")


def test_the_launcher_of_another_reader_lends_its_shell_and_not_its_facts():
    assert "`vocab`" not in section("verl_sh")
