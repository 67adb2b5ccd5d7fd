"""OLMo-core training scripts: batch sizes in tokens, the architecture behind a method name."""

import re

from etl.importers.documents import Document
from etl.importers.facts import Reading
from etl.importers.pyrun import Program
from etl.importers.pystatic import Node, Val, numeric, text_of

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
BATCH_NAMES = ("GLOBAL_BATCH_SIZE", "GLOBAL_BATCH_SIZE_TOKENS")


def detect(document: Document) -> float:
    """The imports name olmo_core."""
    return 0.95 if re.search(r"^(?:from|import)\s+olmo_core\b", document.text[:20_000], re.M) else 0.0


def read(document: Document, _companions: list[Document]) -> Reading:
    """The facts of the config a script builds, every function of it followed with unknown arguments."""
    reading, program = Reading(NAME), Program(document)
    for name in program.functions:
        program.call(name)
    nodes = [n for n in program.nodes if "Padded" not in n.name and "Eval" not in n.name]
    module = _first(nodes, MODULE)
    _length(reading, nodes, program)
    _batch(reading, nodes, module, program)
    if module is not None:
        _module(reading, module)
    _end(reading, _first(nodes, TRAINER))
    return reading


def _first(nodes: list[Node], suffix: str) -> Node | None:
    return next((n for n in nodes if any(part.endswith(suffix) for part in n.name.split("."))), None)


def _field(nodes: list[Node], suffix: str, *keys: str) -> tuple[str, Val] | None:
    """The first number under one of these keys in a call whose class name ends so."""
    for node in nodes:
        if any(part.endswith(suffix) for part in node.name.split(".")):
            for key in keys:
                if numeric(node.fields.get(key)):
                    return f"{node.name}.{key}", node.fields[key]
    return None


def _named(program: Program, names: tuple[str, ...]) -> tuple[str, Val] | None:
    return next(((n, program.names[n]) for n in names if numeric(program.names.get(n))), None)


def _state(reading: Reading, field: str, place: tuple[str, Val] | None) -> None:
    if place is not None:
        key, val = place
        reading.state(field, val.value, key, val.line, "default" if val.fallback else "stated")


def _length(reading: Reading, nodes: list[Node], program: Program) -> None:
    place = _field(nodes, DATA, "sequence_length") or _field(nodes, MODULE, "max_sequence_length")
    _state(reading, "seq_len", place or _named(program, LENGTH_NAMES))


def _batch(reading: Reading, nodes: list[Node], module: Node | None, program: Program) -> None:
    """Batch sizes stand in tokens; sequences follow where the length divides them."""
    _state(
        reading,
        "global_batch_tokens",
        _field(nodes, LOADER, "global_batch_size")
        or _named(program, BATCH_NAMES)
        or _field(nodes, "", "global_batch_size"),
    )
    place, length = module.fields.get("rank_microbatch_size") if module else None, reading.get("seq_len")
    tokens = numeric(place)
    if place is not None and tokens and length and tokens % length == 0:
        reading.state("micro_batch", tokens // length, "rank_microbatch_size", place.line)


def _module(reading: Reading, module: Node) -> None:
    sharding = module.get("dp_config", "name")
    reading.state(
        "zero_stage", SHARDING.get(text_of(sharding).lower()), "dp_config.name", sharding.line if sharding else None
    )
    dtype, float8 = module.get("dp_config", "param_dtype"), module.fields.get("float8_config")
    enabled = module.get("float8_config", "enabled")
    if float8 is not None and isinstance(float8.value, Node) and (enabled is None or enabled.value is True):
        if enabled is not None:
            reading.state("precision", "fp8", "float8_config.enabled", enabled.line)
    elif dtype is not None:
        reading.state("precision", text_of(dtype), "dp_config.param_dtype", dtype.line)
    _recompute(reading, module)
    for field, key in (("tp", "tp_config"), ("pp", "pp_config"), ("cp", "cp_config"), ("ep", "ep_config")):
        degree = module.get(key, "degree")
        if degree is not None:
            reading.state(field, degree.value, f"{key}.degree", degree.line)


def _recompute(reading: Reading, module: Node) -> None:
    config = module.fields.get("ac_config")
    if config is None or config.value is None:
        reading.default("recompute", "none", "OLMo-core: no ac_config")
    elif isinstance(config.value, Node):
        mode = config.value.fields.get("mode") or next(iter(config.value.args), None)
        reading.state("recompute", RECOMPUTE.get(text_of(mode).lower()), "ac_config.mode", config.line)


def _end(reading: Reading, trainer: Node | None) -> None:
    """The earlier of `max_duration` and `hard_stop`."""
    ends = {k: _length_of(trainer.fields.get(k)) for k in ("max_duration", "hard_stop")} if trainer else {}
    known = {k: e for k, e in ends.items() if e is not None}
    batch = reading.get("global_batch_tokens")
    if not known or (
        len(known) == 1 and trainer is not None and "hard_stop" in trainer.fields and "hard_stop" not in known
    ):
        return
    if len(known) == 2:
        reading.warn("two-ends", "max_duration and hard_stop are both set; the earlier one is reported")
        if batch is None and len({unit for unit, _, _ in known.values()}) > 1:
            return
    key, (unit, count, line) = min(known.items(), key=lambda e: e[1][1] * (batch or 1 if e[1][0] == "steps" else 1))
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
