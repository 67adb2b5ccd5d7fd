"""OLMo-core training scripts: batch sizes in tokens, the architecture behind a method name."""

import re

from etl.importers.facts import Reading
from etl.importers.python.statements import Program
from etl.importers.python.static import Node, Val, numeric, text_of
from etl.importers.read.documents import Document

NAME = "olmo_core_py"

# Class names of the library (the part before "Config") and the settings they hold.
LOADER, MODULE, TRAINER, DATA = "DataLoaderConfig", "TrainModuleConfig", "TrainerConfig", "DatasetConfig"
SHARDING = {"fsdp": 3, "hsdp": 3, "ddp": 0}
RECOMPUTE = {
    "full": "full",
    "selected_modules": "selective",
    "selected_blocks": "selective",
    "selected_ops": "selective",
    "budget": "selective",
}
LENGTH_NAMES = ("SEQUENCE_LENGTH", "DEFAULT_SEQUENCE_LENGTH", "SEQ_LENGTH")
ENDS = ("max_duration", "hard_stop")
BATCH_NAMES = ("GLOBAL_BATCH_SIZE", "GLOBAL_BATCH_SIZE_TOKENS")


def detect(document: Document) -> float:
    """The imports name olmo_core."""
    return 0.95 if re.search(r"^(?:from|import)\s+olmo_core\b", document.text[:20_000], re.M) else 0.0


def read(document: Document, _companions: list[Document]) -> Reading:
    """The facts of the config a script builds, every function of it followed with unknown arguments."""
    reading, program = Reading(NAME), Program(document)
    length = _named(program, LENGTH_NAMES)
    common = Node("common", 1, (), {"max_sequence_length": length[1]} if length else {})
    for name in program.functions:
        program.call(name, {"common": Val(common, 1)})
    nodes = [n for n in program.nodes if "Padded" not in n.name and "Eval" not in n.name]
    _length(reading, nodes, program)
    _batch(reading, nodes, program)
    _training(reading, nodes)
    _end(reading, _first(nodes, TRAINER))
    return reading


def _named_so(node: Node, suffix: str) -> bool:
    return any(part.endswith(suffix) for part in node.name.split("."))


def _first(nodes: list[Node], suffix: str) -> Node | None:
    return next((n for n in nodes if _named_so(n, suffix)), None)


def _setting(nodes: list[Node], key: str) -> Val | None:
    """The first value under this keyword in any call."""
    return next((n.fields[key] for n in nodes if key in n.fields and n.fields[key].known), None)


def _inner(val: Val | None, *path: str) -> Val | None:
    return val.value.get(*path) if val is not None and isinstance(val.value, Node) else None


def _field(nodes: list[Node], suffix: str, key: str) -> tuple[str, Val] | None:
    """The first number under this keyword in a call whose class name ends so."""
    hits = (n for n in nodes if _named_so(n, suffix) and numeric(n.fields.get(key)))
    return next(((f"{n.name}.{key}", n.fields[key]) for n in hits), None)


def _named(program: Program, names: tuple[str, ...]) -> tuple[str, Val] | None:
    return next(((n, program.names[n]) for n in names if numeric(program.names.get(n))), None)


def _state(reading: Reading, field: str, place: tuple[str, Val] | None) -> None:
    if place is not None:
        key, val = place
        reading.state(field, val.value, key, val.line, "default" if val.fallback else "stated")


def _length(reading: Reading, nodes: list[Node], program: Program) -> None:
    place = _field(nodes, DATA, "sequence_length") or _field(nodes, MODULE, "max_sequence_length")
    _state(reading, "seq_len", place or _field(nodes, "", "max_sequence_length") or _named(program, LENGTH_NAMES))


def _batch(reading: Reading, nodes: list[Node], program: Program) -> None:
    """Batch sizes stand in tokens; sequences follow where the length divides them."""
    place = _field(nodes, LOADER, "global_batch_size") or _field(nodes, "", "global_batch_size")
    _state(reading, "global_batch_tokens", place or _named(program, BATCH_NAMES))
    micro, length = _setting(nodes, "rank_microbatch_size"), reading.get("seq_len")
    tokens = numeric(micro)
    if micro is not None and tokens and length and tokens % length == 0:
        reading.state("micro_batch", tokens // length, "rank_microbatch_size", micro.line)


def _training(reading: Reading, nodes: list[Node]) -> None:
    """Sharding, precision, recomputation and the other degrees, each under the name of its config."""
    data = _setting(nodes, "dp_config")
    kind, shards = _inner(data, "name"), numeric(_inner(data, "shard_degree"))
    if (
        kind is not None and shards != 1
    ):  # one shard under hybrid sharding means no sharding, or all of it with context parallelism
        reading.state("zero_stage", SHARDING.get(text_of(kind).lower()), "dp_config.name", kind.line)
    dtype, float8 = _inner(data, "param_dtype"), _setting(nodes, "float8_config")
    enabled = _inner(float8, "enabled")
    if enabled is not None and enabled.value is True:
        reading.state("precision", "fp8", "float8_config.enabled", enabled.line)
    elif dtype is not None and (
        float8 is None or float8.value is None or (enabled is not None and enabled.value is False)
    ):
        reading.state("precision", text_of(dtype), "dp_config.param_dtype", dtype.line)
    _recompute(reading, nodes)
    for field, key in (("tp", "tp_config"), ("pp", "pp_config"), ("cp", "cp_config"), ("ep", "ep_config")):
        degree = _inner(_setting(nodes, key), "degree")
        if degree is not None:
            reading.state(field, degree.value, f"{key}.degree", degree.line)


def _recompute(reading: Reading, nodes: list[Node]) -> None:
    config = _setting(nodes, "ac_config")
    if config is None or config.value is None:
        reading.default("recompute", "none", "OLMo-core: no ac_config")
    elif isinstance(config.value, Node):
        mode = config.value.fields.get("mode") or next(iter(config.value.args), None)
        reading.state("recompute", RECOMPUTE.get(text_of(mode).lower()), "ac_config.mode", config.line)


def _end(reading: Reading, trainer: Node | None) -> None:
    """The earlier of `max_duration` and `hard_stop`; a stop that is set but unknown leaves the end open."""
    given = [k for k in ENDS if trainer and k in trainer.fields and trainer.fields[k].value is not None]
    ends = {k: end for k in given if trainer and (end := _length_of(trainer.fields[k])) is not None}
    if len(given) == 2:
        reading.warn("two-ends", "max_duration and hard_stop are both set; the earlier one is reported")
    batch, units = reading.get("global_batch_tokens"), {unit for unit, _, _ in ends.values()}
    if not ends or given[-1] not in ends or (len(units) > 1 and not batch):
        return
    key, (unit, count, line) = min(ends.items(), key=lambda e: e[1][1] * ((batch or 1) if e[1][0] == "steps" else 1))
    reading.state("train_steps" if unit == "steps" else "tokens", count, key, line)


def _length_of(val: Val | None) -> tuple[str, int, int] | None:
    """(unit, number, line) of `Duration.tokens(...)` or `Duration.steps(...)`; epochs and ratios say no number."""
    node = None if val is None else val.value
    if val is None or not isinstance(node, Node) or not node.name.startswith("Duration."):
        return None
    count = numeric(node.args[0]) if node.args else numeric(node.fields.get("value"))
    if node.last not in {"tokens", "steps"} or not count or count != int(count):
        return None
    return node.last, int(count), val.line
