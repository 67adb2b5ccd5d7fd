"""metaseq launcher scripts: a table of positional sizes, and command-line flags as `hyperparam` calls."""

import ast
import re
from typing import Any

from etl.importers.derive import attention_defaults
from etl.importers.facts import Reading
from etl.importers.python.statements import Program
from etl.importers.python.static import Node, Val, numeric
from etl.importers.read.documents import Document

NAME = "metaseq_py"

# The columns of `Size(...)` when the file does not define the class, and what each column means.
COLUMNS = ("n_layers", "emb_size", "n_heads", "d_head", "batch_size", "lr", "model_parallel")
MEANING = {
    "n_layers": "layers",
    "emb_size": "hidden",
    "n_heads": "heads",
    "d_head": "head_dim",
    "batch_size": "global_batch_tokens",
    "model_parallel": "tp",
    "ffn_size": "ffn_hidden",
}
FLAGS = {
    "--decoder-layers": "layers",
    "--decoder-embed-dim": "hidden",
    "--decoder-ffn-embed-dim": "ffn_hidden",
    "--decoder-attention-heads": "heads",
    "--model-parallel-size": "tp",
    "--tokens-per-sample": "seq_len",
    "--batch-size": "micro_batch",
    "--max-update": "train_steps",
}


def detect(document: Document) -> float:
    """Imports of metaseq, or its table of sizes."""
    if re.search(r"^\s*(?:from|import)\s+metaseq\b", document.text, re.M):
        return 0.9
    return 0.85 if re.search(r"^MODEL_SIZES\s*=", document.text, re.M) and "Size(" in document.text else 0.0


def read(document: Document, companions: list[Document]) -> Reading:
    """The first row of the table of sizes, then the flags of the sweep, which may stand in a file beside it."""
    reading, program = Reading(NAME), Program(document)
    for name in program.functions:
        program.call(name)
    sizes = _sizes(program)
    if sizes:
        _size(reading, program, sizes[0])
    if len(sizes) > 1:
        reading.warn("several-runs", f"the table holds {len(sizes)} models; the first is reported")
    calls = [n for n in program.nodes if n.last == "hyperparam"]
    tokens = program.names.get("TOTAL_TRAIN_TOKENS")
    for other in companions:
        if other.kind == "python":
            sweep = Program(other)
            for name in sweep.functions:
                sweep.call(name)
            calls += [n for n in sweep.nodes if n.last == "hyperparam"]
            tokens = tokens or sweep.names.get("TOTAL_TRAIN_TOKENS")
    if tokens is not None and numeric(tokens):
        reading.state("tokens", tokens.value, "TOTAL_TRAIN_TOKENS", tokens.line)
    _flags(reading, calls)
    hidden = reading.get("hidden")
    if hidden:
        reading.default("ffn_hidden", 4 * hidden, "metaseq: ffn_size = 4 * emb_size")
        attention_defaults(reading, "metaseq")
    return reading


def _sizes(program: Program) -> list[Node]:
    table = program.names.get("MODEL_SIZES")
    if table is not None and isinstance(table.value, Node):
        return [v.value for v in table.value.fields.values() if isinstance(v.value, Node) and v.value.last == "Size"]
    return [n for n in program.nodes if n.last == "Size"][:1]


def _columns(program: Program) -> tuple[str, ...]:
    """The fields of the class `Size` in their order, where the file defines it."""
    made = program.classes.get("Size")
    if made is None:
        return COLUMNS
    return tuple(s.target.id for s in made.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name))


def _size(reading: Reading, program: Program, size: Node) -> None:
    row: dict[str, Val] = dict(zip(_columns(program), size.args, strict=False)) | size.fields
    for column, val in row.items():
        if column in MEANING and numeric(val) is not None:
            reading.state(MEANING[column], val.value, f"Size.{column}", val.line)


def _flags(reading: Reading, calls: list[Node]) -> None:
    given: dict[str, tuple[Any, int]] = {}
    for call in calls:
        if call.args and isinstance(call.args[0].value, str):
            given[call.args[0].value] = (call.args[1].value if len(call.args) > 1 else True, call.line)
    for flag, field in FLAGS.items():
        if flag in given and isinstance(given[flag][0], int | float):
            reading.state(field, given[flag][0], flag, given[flag][1])
    _switches(reading, given)


def _switches(reading: Reading, given: dict[str, tuple[Any, int]]) -> None:
    """Flags without a number: sharding, precision, recomputation, tying."""
    for flag, field, value in (
        ("--bf16", "precision", "bf16"),
        ("--memory-efficient-bf16", "precision", "bf16"),
        ("--fp16", "precision", "fp16"),
        ("--memory-efficient-fp16", "precision", "fp16"),
        ("--checkpoint-activations", "recompute", "full"),
        ("--share-decoder-input-output-embed", "tied_embeddings", True),
    ):
        if flag in given and field not in reading.facts:
            reading.state(field, value, flag, given[flag][1])
    backend = given.get("--ddp-backend")
    if backend and backend[0] == "fully_sharded":
        kept = given.get("--no-reshard-after-forward")
        reading.state("zero_stage", 2 if kept else 3, "--ddp-backend", (kept or backend)[1])
