"""Every legal layout of a model on a number of accelerators, as one typed table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from analysis.layout.columns import MODEL, REQUIRED
from analysis.layout.from_record import IN_HOUSE
from analysis.layout.legal import broken
from analysis.layout.parse import Array
from analysis.layout.reasons import Mask
from analysis.plan import empty
from analysis.plan.question import EmptySpaceError, Question

Columns = dict[str, Any]

MODULES = ("core_attn", "layernorm", "mlp")
RECOMPUTE = (
    "none",
    *(f"selective ({','.join(some)})" for size in (1, 2, 3) for some in combinations(MODULES, size)),
    "full (every 2 layers)",
    "full",
)
"""Recomputation of any of three modules, or of whole layers (Megatron-Core, `--recompute-modules`)."""
BLOCKS = range(1, 9)
"""Layers of each stage that block recomputation repeats (`--recompute-num-layers`)."""
RECOMPUTE_MOE = ("selective (moe_act,layernorm)", "selective (moe)")
LEAST_CHUNK = 128
"""Tokens of a sequence that a rank keeps at least; below it products are too small for any accelerator."""
LARGEST_MICRO_BATCH = 64
MOST_ROWS = 2_000_000


def divisors(number: int, most: int | None = None) -> list[int]:
    """Divisors of a number, up to a largest one.

    >>> divisors(12, 6)
    [1, 2, 3, 4, 6]
    """
    ends = [d for d in range(1, int(number**0.5) + 1) if number % d == 0]
    every = sorted({*ends, *(number // d for d in ends)})
    return [d for d in every if most is None or d <= most]


def layouts(question: Question) -> pd.DataFrame:
    """Legal layouts as a table that the engine reads; one row each, facts of the model included.

    Raises
    ------
    EmptySpaceError
        A constraint leaves none.
    """
    space = _Space(question)
    space.degrees()
    space.micro_batches()
    space.stages()
    space.experts()
    space.storage()
    return space.table()


class _Space:
    """A table that grows by one column at a time and drops what is not legal after each."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.columns: Columns = {}
        self.size = 1

    def cross(self, name: str, values: Sequence[Any]) -> None:
        """Every row with every value of a new column; only the given value where the column is fixed."""
        fixed = self.question.fixed.get(name)
        chosen = [fixed] if fixed is not None else list(self.question.options.get(name, values))
        self.columns = {key: np.repeat(column, len(chosen)) for key, column in self.columns.items()}
        if isinstance(chosen[0], str | tuple):
            added = np.empty(len(chosen), dtype=object)
            for place, value in enumerate(chosen):
                added[place] = value
        else:
            added = np.asarray(chosen)
        self.columns[name] = np.tile(added, self.size)
        self.size *= len(chosen)
        if self.size > MOST_ROWS:
            raise EmptySpaceError(
                f"more than {MOST_ROWS:,} layouts; fix some columns with --fix, such as recompute=none"
            )

    def keep(self, legal: Mask, explain: Callable[[], str]) -> None:
        """Drop the rows that are not legal; refuse where none is left."""
        if not legal.any():
            raise EmptySpaceError(explain())
        self.columns = {name: column[legal] for name, column in self.columns.items()}
        self.size = int(legal.sum())

    def number(self, name: str) -> Array:
        """A column as floats."""
        return np.asarray(self.columns[name], dtype=float)

    def broken(self, *names: str) -> Mask:
        """Rows that break the named identities, by what the columns and the model state."""
        model = self.question.model
        facts = {name: np.full(self.size, float(model[name])) for name in ("heads", "kv_heads", "layers", "experts")
                 if model.get(name)}  # fmt: skip
        own = {name: self.number(name) for name in self.columns if self.columns[name].dtype != object}
        own |= {
            "seq_len": np.full(self.size, float(self.question.seq_len)),
            "global_batch": np.full(self.size, float(self.question.global_batch)),
        }
        result = broken(facts | own)
        return np.asarray(np.logical_or.reduce([result[name] for name in names]))

    def degrees(self) -> None:
        """TP inside the fast domain, CP, PP and the DP that is left."""
        ask = self.question
        world, heads, layers = ask.accelerators, int(ask.model["heads"]), int(ask.model["layers"])
        self.cross("tp", [d for d in divisors(heads, ask.domain) if world % d == 0])
        self.cross("cp", divisors(world, max(1, ask.seq_len // LEAST_CHUNK)))
        self.keep(ask.seq_len / self.number("cp") >= LEAST_CHUNK, lambda: empty.few_tokens(ask))
        self.cross("pp", divisors(world, layers))
        group = self.number("tp") * self.number("cp") * self.number("pp")
        self.keep(world % group == 0, lambda: empty.degrees(ask))
        self.columns["dp"] = (world / (self.number("tp") * self.number("cp") * self.number("pp"))).astype(int)
        if "dp" in ask.fixed:
            self.keep(self.number("dp") == float(ask.fixed["dp"]), lambda: empty.degrees(ask))
        self.keep(~self.broken("heads-divide", "kv-heads-divide"), lambda: empty.heads(ask))
        self.cross("sequence_parallel", [True, False])
        self.keep((self.number("tp") > 1) | (self.number("sequence_parallel") == 0), lambda: empty.sequence(ask))
        self.keep(~self.broken("sequence-divides"), lambda: empty.sequence(ask))

    def micro_batches(self) -> None:
        """Sequences per micro-batch, which with DP divide the batch."""
        ask = self.question
        powers = [2**n for n in range(LARGEST_MICRO_BATCH.bit_length()) if 2**n <= ask.global_batch]
        self.cross("micro_batch", powers)
        self.keep(~self.broken("batch-divides") & (self.number("dp") * self.number("micro_batch") <= ask.global_batch),
                  lambda: empty.batch(ask, sorted(set(self.columns["dp"].tolist()))))  # fmt: skip

    def stages(self) -> None:
        """Virtual stages, whose chunks divide the layers but for a few places that embedding and head fill."""
        ask = self.question
        self.cross("vpp", range(1, int(ask.model["layers"]) + 1))
        useful = (self.number("pp") > 1) | (self.number("vpp") == 1)
        count = self.number("vpp") * self.number("pp")
        # Interleaving needs as many micro-batches as stages (Megatron-Core, schedules.py).
        rounds = ask.global_batch / (self.number("dp") * self.number("micro_batch")) % self.number("pp") == 0
        fits = (count <= float(ask.model["layers"]) + 4) & (rounds | (self.number("vpp") == 1))
        self.keep(useful & fits & ~self.broken("layers-divide"), lambda: empty.layers(ask))
        self.cross("schedule", ["1f1b", "interleaved"])
        named = self.columns["schedule"]
        interleaved = self.number("vpp") > 1
        plain = (named == "1f1b") | ((self.number("pp") > 1) & (named != "interleaved"))
        if "schedule" not in ask.fixed:
            self.keep(np.where(interleaved, named == "interleaved", plain), lambda: empty.layers(ask))

    def experts(self) -> None:
        """Expert parallelism over ranks of one stage, and whether each expert is cut as the attention is."""
        ask = self.question
        experts = int(ask.model.get("experts") or 0)
        if not experts:
            self.columns["ep"] = np.ones(self.size, dtype=int)
            return
        self.cross("ep", divisors(experts, ask.accelerators))
        self.cross("etp", [1, 2])
        whole = self.number("etp") == 1
        self.columns["etp"] = np.where(whole, 1, self.columns["tp"])
        world = ask.accelerators / self.number("pp")
        twice = ~whole & (self.number("tp") == 1)
        groups = world % (self.number("ep") * self.number("etp")) == 0
        self.keep(groups & ~twice & ~self.broken("experts-divide"), lambda: f"EP {ask.fixed.get('ep', '')} does not "
                  f"divide {experts} experts and the ranks of a stage; leave ep open")  # fmt: skip

    def storage(self) -> None:
        """What is sharded, recomputed and kept on the host."""
        moe = bool(self.question.model.get("experts"))
        self.cross("zero_stage", [1, 2, 3])
        # With pipelines every micro-batch would reduce or gather again: stage 1 is what programs offer.
        alone = (self.number("dp") * self.number("cp") > 1) | (self.number("zero_stage") == 1)
        piped = (self.number("pp") == 1) | (self.number("zero_stage") == 1)
        if self.question.strict:
            self.keep(alone & piped, lambda: "ZeRO 2 and 3 are not planned with pipelines; leave zero_stage or pp open")
        blocks = [] if moe else [f"full ({count} layer{'s' if count > 1 else ''})" for count in BLOCKS]
        self.cross("recompute", [*RECOMPUTE, *(RECOMPUTE_MOE if moe else ()), *blocks])
        layers = float(self.question.model["layers"]) / self.number("pp")
        repeated = pd.Series(self.columns["recompute"]).map({text: i for i, text in enumerate(blocks, BLOCKS[0])})
        self.keep(~(repeated.to_numpy(dtype=float) >= layers), lambda: "a block of recomputed layers exceeds its stage")
        # What the host link costs is not modelled, so that offloading is planned only where it is asked for.
        self.cross("offload", ["no"])

    def table(self) -> pd.DataFrame:
        """The layouts with the columns that all have in common."""
        ask = self.question
        same: Columns = {name: ask.model[name] for name in MODEL if ask.model.get(name) is not None}
        same |= {
            "accelerator": ask.accelerator,
            "accelerators": ask.accelerators,
            "seq_len": ask.seq_len,
            "global_batch": ask.global_batch,
            "precision": ask.fixed.get("precision", "bf16"),
            "attention_kernel": ask.fixed.get("attention_kernel", "flash"),
        }
        same["stack"] = ask.stack or IN_HOUSE
        unstated = {name: np.nan for name in REQUIRED if name not in same and name not in self.columns}
        table = pd.DataFrame(self.columns).assign(**same, **unstated)
        table["id"] = np.arange(len(table))
        return table
