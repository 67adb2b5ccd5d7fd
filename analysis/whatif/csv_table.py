"""A CSV of layouts in, a CSV of predictions out: reading, resolving model names, writing whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pandas as pd

from analysis.layout.columns import BY_NAME, MODEL, check_columns
from analysis.records.facts import Facts
from analysis.records.load import Catalogue
from schemas.files import replace, require_file
from schemas.naming import resolve
from schemas.nearest import nearest
from schemas.refusal import RefusalError


def read(path: Path) -> pd.DataFrame:
    """A CSV as text cells; blank cells are empty strings.

    Raises
    ------
    RefusalError
        No such file, not a CSV, no header, columns missing.
    """
    try:
        table = pd.read_csv(require_file(path), dtype=str, keep_default_na=False, na_filter=False)
        if not isinstance(table.index, pd.RangeIndex):  # pandas takes cells beyond the header for names of rows
            raise RefusalError(f"{path}: some rows have more columns than the header")
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        reason = str(error).strip().splitlines()[0]
        raise RefusalError(f"{path} cannot be read as CSV ({reason}); it needs a header line and UTF-8 text") from None
    _check_names(path, list(table.columns))
    columns = [*table.columns, *(MODEL if "model" in table.columns else ())]
    try:
        check_columns(columns)
    except ValueError as error:
        raise RefusalError(f"{path}: {error}") from None
    return table


MEASURED = ("step_time_s", "memory_gib", "mfu", "tflops", "family", "source", "benchmark_id", "position", "doubt")
"""Columns of measured tables, which a prediction does not read."""
OTHER_NAMES = {
    "num_experts": "experts", "top_k": "experts_per_token", "num_layers": "layers", "hidden_size": "hidden",
    "ffn": "ffn_hidden", "intermediate_size": "ffn_hidden", "num_attention_heads": "heads",
    "num_key_value_heads": "kv_heads", "vocab_size": "vocab", "gpus": "accelerators", "gpu_type": "accelerator",
    "sp": "sequence_parallel", "gbs": "global_batch", "mbs": "micro_batch", "dtype": "precision",
}  # fmt: skip
"""What other programs call some columns."""


def _check_names(path: Path, names: list[str]) -> None:
    """Refuse a column that stands twice, or whose name is a mistyped or another program's one.

    Raises
    ------
    RefusalError
        The sentence names the column and what was probably meant.
    """
    for name in names:
        bare = re.sub(r"\.\d+\Z", "", name)  # pandas numbers a repeated name
        if bare != name and bare in names:
            raise RefusalError(f"{path} has the column {bare} twice; keep one")
    for name in unused(names):
        meant = OTHER_NAMES.get(name.lower()) or nearest(name, [known for known in BY_NAME if known not in names])
        if meant is not None and meant not in names:
            raise RefusalError(f"{path}: the column {name} is not one that is read; did you mean {meant}?")


def unused(names: Iterable[str]) -> list[str]:
    """Columns that a prediction does not read.

    >>> unused(["tp", "network", "step_time_s"])
    ['network']
    """
    return [name for name in names if name not in BY_NAME and name not in MEASURED]


def fill_models(
    table: pd.DataFrame, models: Mapping[str, Facts], architecture: Callable[[str], Facts]
) -> tuple[pd.DataFrame, pd.Series]:
    """Fill blank architecture cells from the record or config that `model` names.

    Returns the table and, per row, why its model could not be resolved ('' where it could).
    """
    why = pd.Series("", index=table.index, dtype=object)
    table = table.copy()
    for column in MODEL:
        if column not in table:
            table[column] = ""
    for name in table["model"].unique():
        mine = table["model"] == name
        try:
            facts = facts_of_model(name, models, architecture) if name else {}
        except RefusalError as error:
            why[mine] = str(error)
            continue
        for column in MODEL:
            if column in facts:
                blank = mine & (table[column] == "")
                table.loc[blank, column] = str(facts[column])
    return table, why


def facts_of_model(name: str, models: Mapping[str, Facts], architecture: Callable[[str], Facts]) -> Facts:
    """Architecture facts of a record by id, or of a published config by path.

    Raises
    ------
    RefusalError
        It is neither.
    """
    if name in models:
        return models[name]
    try:
        return architecture(name)
    except Exception as error:
        if Path(name).suffix not in CONFIGS:
            known = {one: (str(facts.get("name", one)), *facts.get("aliases", ())) for one, facts in models.items()}
            return models[resolve(name, known, "model")]
        raise RefusalError(f"model: {name!r} is neither a record nor a config that can be read ({error})") from None


CONFIGS = frozenset({".json", ".sh", ".yaml", ".yml", ".py", ".toml"})
"""Endings by which a word is the path of a config rather than the name of a model."""


def filled(
    table: pd.DataFrame, catalogue: Catalogue, architecture: Callable[[str], Facts]
) -> tuple[pd.DataFrame, pd.Series[str]]:
    """The table with the facts of the models that it names, and per row why a model could not be resolved."""
    table = table.assign(accelerator=_named(table["accelerator"], catalogue))
    if "model" in table:
        return fill_models(table, catalogue.models, architecture)
    return table, pd.Series("", index=table.index, dtype=object)


def _named(cells: pd.Series[str], catalogue: Catalogue) -> pd.Series[str]:
    """Ids of accelerators where words mean one; other cells stay as they are, and make their row unknown."""
    parts = catalogue.accelerators
    known = {row[0]: [str(row[1])] for row in parts[["id", "name"]].itertuples(index=False)}
    meant: dict[str, str] = {}
    for words in cells.unique():
        try:
            meant[words] = resolve(words, known, "accelerator") if words else words
        except RefusalError:
            meant[words] = words
    return cells.map(meant)


def explained(table: pd.DataFrame, measured: pd.DataFrame, catalogue: Catalogue) -> list[str]:
    """The measurements nearest to each row, in words.

    Raises
    ------
    RefusalError
        More rows than are compared one by one.
    """
    from analysis.whatif.neighbours import LARGEST_TABLE, nearest

    if len(table) > LARGEST_TABLE:
        raise RefusalError(
            f"--explain answers {LARGEST_TABLE:,} rows at most, not {len(table):,}; pick those you doubt"
        )
    return [" | ".join(one.text() for one in near) for near in nearest(table, measured, catalogue)]


def run(table: pd.DataFrame, why: pd.Series[str], catalogue: Catalogue) -> pd.DataFrame:
    """Predictions for every row, in the order of the table; `why` is what `filled` says of the rows."""
    from analysis.engine.predict import predict

    answer = predict(table, catalogue.accelerators, catalogue.constants)
    bad = (why != "").to_numpy()
    answer.loc[bad, "missing"] = why[bad].to_numpy()
    return answer


def render(answer: pd.DataFrame, as_json: bool) -> str:
    """The answer as CSV (unknown cells empty) or JSON records (unknown null)."""
    if as_json:
        return str(answer.to_json(orient="records", force_ascii=False, indent=1)) + "\n"
    return str(answer.to_csv(index=False, float_format="%.6g"))


def write(text: str, target: Path | None) -> None:
    """Write to a temporary file beside the target, then put it in place.

    Raises
    ------
    RefusalError
        The folder does not exist or cannot be written.
    """
    if target is None:
        return
    if target.exists() and not target.is_file():
        raise RefusalError(f"{target} is not a regular file; leave out -o to write to standard output")
    try:
        replace(target, text)
    except OSError as error:
        raise RefusalError(f"{target} cannot be written ({error.strerror}); choose another place with -o") from None
