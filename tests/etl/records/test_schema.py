"""The schemas describe every field once: words, unit, place. Units are parsed, and tie to the endings of the names."""

import json
from pathlib import Path

import pint
import pytest

from etl.records import schema
from schemas.refusal import RefusalError

ROOT = Path(__file__).parents[3]
SCHEMAS = schema.load(ROOT / "schemas")
PLACES = [
    pytest.param(path, shape, id=".".join((kind, *path)))
    for kind, whole in (*SCHEMAS.shapes.items(), *SCHEMAS.results.items())
    for path, shape in schema.walk(whole)
    if path and path[-1] not in {"[]", "{}"}
]
UNITS = pint.UnitRegistry()
for line in ("FLOP = [work]", "OP = [operation]", "USD = [money]", "tCO2e = [emission]", "token = [text] = _ = tokens"):
    UNITS.define(line)
# An ending of a name, and the unit that it stands for; pint parses both sides.
ENDINGS = {
    "gb_s": "GB/s",
    "gbit_s": "Gbit/s",
    "b_s": "B/s",
    "tokens_per_s": "tokens/s",
    "tokens_per_s_per_accelerator": "tokens/s",
    "gib": "GiB",
    "gb": "GB",
    "tflops": "TFLOP/s",
    "tflops_per_accelerator": "TFLOP/s",
    "tops": "TOP/s",
    "flop": "FLOP",
    "flop_per_token": "FLOP",
    "hours": "h",
    "days": "d",
    "months": "months",
    "seconds": "s",
    "_s": "s",
    "mwh": "MWh",
    "mw": "MW",
    "w": "W",
    "usd": "USD",
    "tco2e": "tCO2e",
    "bytes_per_step": "B",
}
# Counts and fractions: the name says what is counted.
COUNTED = {"tokens", "sequences", "accelerators", "parameters", "1"}


def ending(name: str) -> str | None:
    """The longest known ending of a name."""
    fits = [one for one in ENDINGS if name == one or name.endswith(f"_{one.lstrip('_')}")]
    return max(fits, key=len, default=None)


@pytest.mark.parametrize(("path", "shape"), PLACES)
def test_every_field_is_described_in_a_sentence(path: tuple[str, ...], shape: schema.Shape) -> None:
    assert shape.description[-1:] in {".", ")"}, path


@pytest.mark.parametrize(("path", "shape"), [place for place in PLACES if place.values[1].unit])
def test_a_unit_is_a_count_or_the_one_that_the_name_ends_in(path: tuple[str, ...], shape: schema.Shape) -> None:
    if shape.unit in COUNTED:
        assert ending(path[-1]) is None, path
    else:
        suffix = ending(path[-1])
        assert suffix, f"{path[-1]} has the unit {shape.unit}, and its name does not end in it"
        assert UNITS(shape.unit) == UNITS(ENDINGS[suffix])


@pytest.mark.parametrize(("path", "shape"), [place for place in PLACES if ending(place.values[0][-1])])
def test_a_name_that_ends_in_a_unit_has_that_unit(path: tuple[str, ...], shape: schema.Shape) -> None:
    assert shape.unit, f"{path[-1]} ends like a unit and has none"


def test_decimal_and_binary_bytes_are_different_units() -> None:
    # 80 GB as sold are 74.5 GiB: 80e9 / 2**30
    assert UNITS("80 GB").to("GiB").magnitude == pytest.approx(74.506, abs=5e-4)


def test_every_private_keyword_is_in_the_vocabulary() -> None:
    known = set(SCHEMAS.raw["vocabulary.schema.json"]["properties"])
    used = {key for document in SCHEMAS.raw.values() for key in keywords(document) if key.startswith("x-")}
    assert used - known == set()


def keywords(part: object) -> set[str]:
    """Every key of a JSON document, names of properties left out."""
    if isinstance(part, list):
        return set().union(*map(keywords, part)) if part else set()
    if not isinstance(part, dict):
        return set()
    below = [keywords(value) for key, value in part.items() if key not in {"properties", "$defs"}]
    named = [keywords(value) for key in ("properties", "$defs") for value in part.get(key, {}).values()]
    return set(part).union(*below, *named)


@pytest.mark.parametrize("name", sorted(SCHEMAS.raw))
def test_every_schema_is_a_valid_json_schema(name: str) -> None:
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(json.loads((ROOT / "schemas" / name).read_text("utf-8")))


@pytest.mark.parametrize("kind", schema.KINDS)
def test_records_are_closed_so_that_a_mistyped_key_is_found(kind: str) -> None:
    open_ends = [
        path
        for path, shape in schema.walk(SCHEMAS.kind(kind))
        if shape.properties and not (shape.closed or shape.values)
    ]
    assert open_ends == []


@pytest.mark.parametrize("kind", schema.KINDS)
def test_required_keys_are_properties(kind: str) -> None:
    lost = [(path, set(shape.required) - set(shape.properties)) for path, shape in schema.walk(SCHEMAS.kind(kind))]
    assert [pair for pair in lost if pair[1]] == []


def test_a_schema_with_a_slip_of_the_pen_is_named_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "run.schema.json").write_text('{\n  "title": }\n')
    with pytest.raises(RefusalError, match=r"^schemas/run\.schema\.json:2:12 is no JSON \(Expecting value\); mend it"):
        schema.load(tmp_path)
