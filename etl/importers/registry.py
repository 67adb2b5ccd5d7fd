"""The formats that can be read, which module reads each, and the choice between them by content.

A format module has `NAME`, `detect(document) -> float` (0 = not mine, 1 = surely mine; decided by content) and
`read(document, companions) -> Reading`. Modules are imported only when a document of their kind is met.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from etl.importers import counting, derive
from etl.importers.documents import Document, load
from etl.importers.facts import Reading
from etl.importers.problems import ImporterError
from etl.importers.trees import repeated

MOST_REPETITIONS = 5


@dataclass(frozen=True, slots=True)
class Format:
    """One row of the registry: a format's module, the syntaxes of its files, what it tells and what it cannot."""

    module: str
    kinds: tuple[str, ...]
    tells: str
    cannot: str


FORMATS = (
    Format("hf_config", ("json",), "architecture, exact parameter count", "any fact of a run"),
    Format(
        "megatron_sh",
        ("shell",),
        "architecture, layout, batch, devices, duration",
        "the vocabulary of an external tokenizer",
    ),
    Format(
        "training_log", ("log", "yaml", "shell"), "steady step time and throughput, planned steps", "most of the layout"
    ),
    Format("mlperf_sh", ("shell",), "layout, batch, devices", "the architecture"),
    Format("mlperf_json", ("json",), "devices of a system", "everything about the model"),
    Format("mlperf_yaml", ("yaml",), "layout and batch with the launcher's variables", "devices"),
    Format("megatron_moe_zoo", ("yaml",), "architecture, batch", "the layout a launcher fills in"),
    Format("nanotron_yaml", ("yaml",), "architecture, layout, batch, devices, duration", "measured speed"),
    Format("olmo_yaml", ("yaml",), "architecture, batch, duration", "devices"),
    Format("gpt_neox_yml", ("yaml", "json"), "architecture, layout, micro-batch, duration", "devices, vocabulary"),
    Format("olmo_core_py", ("python",), "batch in tokens, duration, sharding", "architecture, devices"),
    Format("llm_foundry_yaml", ("yaml",), "architecture, batch, duration, sharding", "devices"),
    Format("nemo_yaml", ("yaml",), "architecture, layout, batch, devices, duration", "vocabulary"),
    Format("nemo_python", ("python",), "layout, batch, devices, duration", "architecture"),
    Format("flagscale_yaml", ("yaml",), "architecture, layout, batch, duration", "devices"),
    Format("maxtext_yaml", ("yaml",), "architecture; layout when a run file is given", "devices on free axes"),
    Format("maxtext_sh", ("shell",), "layout, batch, steps, with companions the architecture", "devices on free axes"),
    Format("levanter_yaml", ("yaml",), "architecture, batch, duration", "devices, vocabulary"),
    Format("torchtitan_toml", ("toml",), "layout, batch, steps", "architecture"),
    Format("prime_toml", ("toml",), "micro-batch, length, recomputation", "workers, architecture"),
    Format("primus_yaml", ("yaml",), "layout, batch, steps", "architecture, devices"),
    Format("metaseq_py", ("python",), "architecture, batch in tokens", "devices"),
    Format("internevo_py", ("python",), "architecture, layout, batch, steps", "devices"),
    Format("deepspeed_json", ("json",), "sharding stage, precision, batch", "model, length, devices"),
    Format("accelerate_yaml", ("yaml",), "devices, precision, sharding", "model, length, batch"),
    Format("paddle", ("json", "yaml"), "layout, batch, steps", "architecture, devices"),
    Format("mindformers_yaml", ("yaml",), "architecture, layout, batch, devices", "duration"),
    Format("axolotl_yaml", ("yaml",), "length, batch, sharding", "architecture, devices"),
)


def _modules(document: Document) -> list[Any]:
    found = []
    for row in FORMATS:
        if document.kind in row.kinds:
            try:
                found.append(import_module(f"etl.importers.{row.module}"))
            except ModuleNotFoundError as e:
                if e.name != f"etl.importers.{row.module}":
                    raise
    return found


def choose(document: Document) -> tuple[Any, Document]:
    """The format module whose content test scores highest, and the document in the syntax that it reads.

    The syntax that name and look suggest comes first. Raises ImporterError when no format claims the document.
    """
    try:
        best = _best(document)
        problem = ImporterError(
            f"{document.path} is in no known format; `shardbook import --list` shows those that can be read"
        )
    except ImporterError as refusal:
        best, problem = None, refusal
    if best is not None:
        return best, document
    for other in document.others():
        with suppress(ImporterError):
            if (best := _best(other)) is not None:
                return best, other
    raise problem


def _best(document: Document) -> Any | None:
    scores = [(module.detect(document), -index, module) for index, module in enumerate(_modules(document))]
    best = max(scores, key=lambda s: s[:2], default=(0.0, 0, None))
    return best[2] if best[0] > 0 else None


def read(paths: Sequence[str], counter: Callable[..., Any] | None = None) -> Reading:
    """Read the first of `paths`, with the others beside it, and return its facts.

    Parameters: `paths`, the config or log first, then its companions; `counter`, the parameter counter of the analysis
    layer (see `counting`), without which totals stay out. Raises ImporterError, one sentence, when the file cannot be
    read or tells nothing.
    """
    documents = [load(path) for path in paths]
    if not documents:
        raise ImporterError("no file was named; pass the path of a config or log")
    return read_documents(documents[0], documents[1:], counter)


def read_documents(
    document: Document, companions: Sequence[Document], counter: Callable[..., Any] | None = None
) -> Reading:
    """The same for documents that are already loaded."""
    try:
        module, document = choose(document)
        reading: Reading = module.read(document, list(companions))
        derive.complete(reading)
        counting.count(reading, counter)
        _repetitions(reading, document)
    except RecursionError:
        raise ImporterError(f"{document.path} refers to itself or nests too deep; it cannot be read") from None
    if all(fact.origin == "default" for fact in reading.facts.values()):
        raise ImporterError(
            f"{document.path} looks like {reading.format} but states no fact that can be read without running it"
        )
    return reading


def _repetitions(reading: Reading, document: Document) -> None:
    """Warn of keys that stand twice in one mapping, where the reader of the format has not done so."""
    if document.kind in {"json", "yaml"} and not any(w.startswith("duplicate-key") for w in reading.warnings):
        for key in repeated(document.tree)[:MOST_REPETITIONS]:
            reading.warn("duplicate-key", f"{key} stands more than once; the last one counts")
