"""Plans for the terminal, as JSON, and as a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from analysis.plan.ranking import SHOWN, Plan
from analysis.plan.sizes import Wishes, takes
from analysis.plan.space import layouts
from analysis.records.load import Catalogue
from analysis.records.spans import Span
from analysis.whatif.fit import amounts_json
from analysis.whatif.neighbours import Neighbour, nearest
from analysis.whatif.remarks import unknown_software
from schemas.files import draft
from schemas.refusal import RefusalError

FRONT_SHOWN = 8


@dataclass(frozen=True)
class Answer:
    """A question answered: plans by size, the one chosen, and what is shown beside it."""

    name: str
    plans: Sequence[Plan]
    best: Plan
    wishes: Wishes
    catalogue: Catalogue
    near: Sequence[Neighbour]
    top: int = 20


def nearest_to_winner(best: Plan, measured: pd.DataFrame, catalogue: Catalogue) -> list[Neighbour]:
    """The published measurements nearest to the fastest layout."""
    winner = best.ranked.iloc[:1]
    table = layouts(best.question).iloc[:1].reset_index(drop=True)
    for name in SHOWN:
        if name in winner:
            table[name] = winner[name].to_numpy()
    return nearest(table, measured, catalogue)[0]


def rows_json(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Layouts as plain values; what is not known is null."""
    plain = rows.astype(object).where(rows.notna(), None)
    return [{str(name): _plain(value) for name, value in row.items()} for row in plain.to_dict("records")]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def as_json(answer: Answer) -> dict[str, Any]:
    """Everything that is known of a plan, as plain values."""
    best, wishes, catalogue = answer.best, answer.wishes, answer.catalogue
    ask = best.question
    return {
        "model": answer.name,
        "accelerator": ask.accelerator,
        "accelerators": ask.accelerators,
        "seq_len": ask.seq_len,
        "global_batch": ask.global_batch,
        "legal": best.legal,
        "fitting": len(best.ranked),
        "not_fitting": best.dropped,
        "unknown": best.unknown,
        "indistinguishable_from_the_fastest": best.alike,
        "card_gib": best.card_gib,
        "takes": amounts_json(takes(best, wishes, catalogue)),
        "ranked": rows_json(best.ranked.head(answer.top)),
        "front": rows_json(best.ranked[best.ranked["front"]]),
        "nearest_measured": [{key: _finite(value) for key, value in one.__dict__.items()} for one in answer.near],
        "scaling": [scaling_row(one, wishes, catalogue) for one in answer.plans],
    }


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value


def scaling_row(one: Plan, wishes: Wishes, catalogue: Catalogue) -> dict[str, Any]:
    """The fastest layout of one size, and what the run takes with it."""
    first = one.ranked.iloc[0]
    made = takes(one, wishes, catalogue)
    spans: dict[str, Span | None] = {"days": made.days, "accelerator_hours": made.accelerator_hours, "cost": made.cost}
    return {
        "accelerators": one.question.accelerators,
        "layout": words(first),
        "step_time_s": float(first["step_time_s"]),
        "mfu": float(first["mfu"]),
        "tokens_per_s_each": made.tokens_per_s_each.best,
        **{name: None if span is None else span.best for name, span in spans.items()},
    }


def words(row: Any) -> str:
    """The degrees of a layout that are not 1, in one line."""
    degrees = [f"{axis.upper()}{int(row[axis])}" for axis in ("tp", "cp", "pp", "vpp", "ep", "etp", "dp")
               if axis in row and row[axis] > 1]  # fmt: skip
    apart = ["no SP"] if row["tp"] > 1 and not row.get("sequence_parallel", True) else []
    others = (f"ZeRO-{int(row['zero_stage'])}", f"MBS{int(row['micro_batch'])}", str(row["recompute"]))
    return " ".join([*degrees, *apart, *others])


def write(best: Plan, out: Path) -> None:
    """All ranked layouts as CSV or Parquet.

    Raises
    ------
    RefusalError
        Another ending, or a place that cannot be written.
    """
    if out.suffix not in (".csv", ".parquet"):
        raise RefusalError(f"-o takes a file that ends in .csv or .parquet, not {out.name!r}")
    try:
        with draft(out) as unfinished:
            ranked = best.ranked
            if out.suffix == ".csv":
                ranked.to_csv(unfinished, index=False, float_format="%.6g")
            else:
                with duckdb.connect() as connection:
                    connection.register("ranked", ranked)
                    connection.table("ranked").write_parquet(str(unfinished))
    except OSError as error:
        raise RefusalError(f"{out} cannot be written ({error.strerror}); choose another place with -o") from None


def sections(answer: Answer) -> Iterator[RenderableType]:
    """Everything to print, in order."""
    best, wishes = answer.best, answer.wishes
    ask = best.question
    yield Text(f"{answer.name} on {ask.accelerators:,} x {ask.accelerator}", style="bold")
    yield Text(
        f"{best.legal:,} legal layouts: {len(best.ranked):,} fit in {best.card_gib:.1f} GiB, {best.dropped:,} do not"
        + (f", {best.unknown:,} cannot be computed" if best.unknown else "")
    )
    if ask.stack:
        yield from (Text(one) for one in unknown_software({"stack": ask.stack}, answer.catalogue))
    yield _table("Fastest", best.ranked.head(answer.top))
    yield Text(
        f"{best.alike - 1:,} others cannot be told from the fastest: their 90% intervals of step time overlap its own."
    )
    surely = best.ranked[best.ranked["fits"] == "sure"]
    if not surely.empty and best.ranked["fits"].iloc[0] != "sure":
        yield Text(f"The fastest that surely fits: {words(surely.iloc[0])}, {surely['step_time_s'].iloc[0]:.2f} s.")
    yield _table("Fastest for their memory", best.ranked[best.ranked["front"]].head(FRONT_SHOWN))
    if len(answer.plans) > 1:
        yield _scaling(answer)
    yield from _takes(takes(best, wishes, answer.catalogue), wishes)
    yield from (Text(f"Measured nearby: {one.text()}.", style="dim") for one in answer.near)


def _table(title: str, rows: pd.DataFrame) -> Table:
    table = Table("layout", "step s", "90%", "MFU", "GiB", "90%", "fits", "bound by", title=title, title_justify="left",
                  title_style="bold", box=None, pad_edge=False)  # fmt: skip
    for _, row in rows.iterrows():
        table.add_row(
            words(row), f"{row['step_time_s']:.2f}", f"{row['step_time_s_low']:.2f}-{row['step_time_s_high']:.2f}",
            f"{100 * row['mfu']:.1f}%", f"{row['memory_gib']:.1f}",
            f"{row['memory_gib_low']:.1f}-{row['memory_gib_high']:.1f}", str(row["fits"]), str(row["bound_by"]),
        )  # fmt: skip
    return table


def _scaling(answer: Answer) -> Table:
    table = Table("accelerators", "fastest layout", "step s", "MFU", "tokens/s each", "days", "cost", title="Scaling",
                  title_justify="left", title_style="bold", box=None, pad_edge=False)  # fmt: skip
    for one in answer.plans:
        row = scaling_row(one, answer.wishes, answer.catalogue)
        days, cost = ("" if row[key] is None else f"{row[key]:,.1f}" for key in ("days", "cost"))
        table.add_row(
            f"{row['accelerators']:,}", row["layout"], f"{row['step_time_s']:.2f}", f"{100 * row['mfu']:.1f}%",
            f"{row['tokens_per_s_each']:,.0f}", days, cost,
        )  # fmt: skip
    return table


def _takes(made: Any, wishes: Wishes) -> Iterator[Text]:
    """What the run takes with the fastest layout."""
    yield Text(f"{made.tokens_per_s.best:,.0f} tokens/s, {made.tokens_per_s_each.best:,.0f} each")
    if made.days is None:
        return
    text = f"{wishes.tokens:.3g} tokens: {made.days.best:.1f} days ({made.days.low:.1f}-{made.days.high:.1f}), "
    text += f"{made.accelerator_hours.best:,.0f} accelerator-hours"
    if made.energy_mwh is not None:
        text += (
            f", {made.energy_mwh.low:,.0f}-{made.energy_mwh.high:,.0f} MWh (accelerators at their power, PUE 1.1-1.5)"
        )
    if made.cost is not None and wishes.price is not None:
        text += f", {made.cost.best:,.0f} {wishes.price.currency}"
    yield Text(text)
