"""NeMo 2 and Megatron-Bridge recipes: Python that builds a config, read as syntax, never imported."""

import ast
import re

from etl.importers.facts import Reading
from etl.importers.problems import ImporterError
from etl.importers.python.statements import Program
from etl.importers.python.static import Node, Val, numeric, text_of
from etl.importers.read.documents import Document

NAME = "nemo_python"

# field -> names of the setting, wherever in the config it stands; the first one met decides.
KEYS: dict[str, tuple[str, ...]] = {
    "tp": ("tensor_model_parallel_size", "tensor_parallelism", "tensor_parallel_size"),
    "pp": ("pipeline_model_parallel_size", "pipeline_parallelism", "pipeline_parallel_size"),
    "vpp": ("virtual_pipeline_model_parallel_size", "virtual_pipeline_parallelism", "virtual_pipeline_parallel_size"),
    "cp": ("context_parallel_size", "context_parallelism"),
    "ep": ("expert_model_parallel_size", "expert_parallelism", "expert_model_parallelism"),
    "micro_batch": ("micro_batch_size",),
    "global_batch": ("global_batch_size",),
    "train_steps": ("max_steps", "train_iters"),
    "layers": ("num_layers",),
    "hidden": ("hidden_size",),
    "heads": ("num_attention_heads",),
}
LENGTHS = ("seq_length", "sequence_length", "seq_len")
PRECISIONS = ("mixed_precision", "precision_config", "precision", "plugins")
# The first word of this list found in the name of a precision recipe decides.
WORDS = (
    ("nvfp4", "nvfp4"),
    ("fp4", "nvfp4"),
    ("mxfp8", "mxfp8"),
    ("fp8_mx", "mxfp8"),
    ("fp8", "fp8"),
    ("bf16", "bf16"),
    ("fp16", "fp16"),
    ("16-mixed", "fp16"),
    ("fp32", "fp32"),
)
SHARDING = {"optim_grads_params": 3, "optim_grads": 2, "optim": 1, "no_shard": 0}
_RECIPE = re.compile(r"(?!_)\w*(?:recipe|config(?:_\w+)?|pretrain|finetune|sft)")
_PARAMETER = re.compile(
    r"\b((?:tensor|pipeline)_(?:model_)?parallel(?:ism|_size)|num_gpus_per_node|use_distributed_optimizer)\b\s*[:=]"
)
_NAMED_DEVICES = re.compile(r"(?:^|_)(\d{1,6})_?gpus?(?:_|$)")
_TOLD_DEVICES = re.compile(r"(?<![\w.])(\d{1,6})\s*(?:[x×]\s*[A-Z]\w*\d|GPUs\b)")


def detect(document: Document) -> float:
    """The imports name NeMo or Megatron-Bridge."""
    head = document.text[:20_000]
    if re.search(r"^(?:from|import)\s+(?:nemo|nemo_run|megatron\.bridge)\b", head, re.M):
        return 0.9
    recipe = document.kind == "python" and re.search(r"^def \w+\(", document.text[:200_000], re.M)
    return 0.6 if recipe and len(set(_PARAMETER.findall(document.text[:200_000]))) >= 2 else 0.0


def read(document: Document, _companions: list[Document]) -> Reading:
    """The facts of the first recipe of the file."""
    reading, program = Reading(NAME), Program(document)
    recipes = [n for n in program.functions if _RECIPE.fullmatch(n)]
    for name in sorted(recipes, key=lambda n: "pretrain" not in n):
        returned = program.call(name).value
        signature = program.defaults(program.functions[name])
        config = returned if isinstance(returned, Node) else Node("config", program.functions[name].lineno)
        if _state(reading, config, signature):
            break
    else:
        raise ImporterError(f"{document.name} defines no recipe whose settings are written out")
    if len(recipes) > 1:
        reading.warn("several-runs", f"{len(recipes)} recipes in one file; {name} is reported")
    _remark(reading, program.functions[name])
    return reading


def _state(reading: Reading, config: Node, signature: dict[str, Val]) -> bool:
    settings: dict[str, list[tuple[str, Val]]] = {}
    for path, val in config.walk():
        settings.setdefault(path[-1], []).append((".".join(path), val))
    for name, val in signature.items():
        settings.setdefault(name, []).append((name, val))
    for field, names in KEYS.items():
        for key, val in _values(settings, names)[:1]:
            reading.state(field, val.value, key, val.line)
    _length(reading, settings)
    _devices(reading, settings)
    _precision(reading, settings)
    _memory(reading, settings)
    reading.extra["etp"] = next((numeric(v) for _, v in _values(settings, ("expert_tensor_parallel_size",))), None)
    if _values(settings, ("rampup_batch_size",)):
        reading.extra["ramp"] = True
    return bool(reading.facts)


def _values(settings: dict[str, list[tuple[str, Val]]], names: tuple[str, ...]) -> list[tuple[str, Val]]:
    """The settings of these names that hold a number, a text or a flag, in the order of the names."""
    hits = [place for name in names for place in settings.get(name, [])]
    return [(key, val) for key, val in hits if isinstance(val.value, int | float | str | list)]


def _length(reading: Reading, settings: dict[str, list[tuple[str, Val]]]) -> None:
    places = [(k, v) for k, v in _values(settings, LENGTHS) if numeric(v)]
    if len({v.value for _, v in places}) > 1:
        reading.warn("conflicting-keys", "; ".join(f"{k} says {v.value} (line {v.line})" for k, v in places))
    elif places:
        reading.state("seq_len", places[0][1].value, places[0][0], places[0][1].line)


def _devices(reading: Reading, settings: dict[str, list[tuple[str, Val]]]) -> None:
    nodes = next((v for _, v in _values(settings, ("num_nodes",)) if numeric(v)), None)
    each = next(
        (v for _, v in _values(settings, ("devices", "num_gpus_per_node", "gpus_per_node")) if numeric(v)), None
    )
    if nodes is not None and each is not None:
        reading.state("accelerators", nodes.value * each.value, "num_nodes * devices", nodes.line)


def _precision(reading: Reading, settings: dict[str, list[tuple[str, Val]]]) -> None:
    for name in PRECISIONS:
        for key, val in settings.get(name, []):
            word = _word(val)
            if word:
                reading.state("precision", word, key, val.line)
                return


def _word(val: Val) -> str | None:
    """The precision a setting names; switches inside it (`fp8="hybrid"`, `bf16=True`) beat its name."""
    if isinstance(val.value, list):
        return next((w for v in val.value if (w := _word(v))), None)
    inner = val.value.fields if isinstance(val.value, Node) else {}
    if "fp8" in inner and inner["fp8"].known:
        recipe = text_of(inner.get("fp8_recipe"))
        if inner["fp8"].value:
            return "mxfp8" if "mx" in recipe else "fp8"
    texts = [text_of(val), text_of(inner.get("precision"))]
    for word, meaning in WORDS:
        if any(word in t.lower() for t in texts) or (word in inner and inner[word].value is True):
            return meaning
    return None


def _memory(reading: Reading, settings: dict[str, list[tuple[str, Val]]]) -> None:
    for key, val in settings.get("recompute_granularity", [])[:1]:
        modules = any(v.value is not None for _, v in settings.get("recompute_modules", []))
        if isinstance(val.value, str) or (val.value is None and not modules):
            reading.state("recompute", val.value or "none", key, val.line)
    _sharding(reading, settings)


def _sharding(reading: Reading, settings: dict[str, list[tuple[str, Val]]]) -> None:
    """Megatron FSDP shards by its strategy; without it the distributed optimizer is stage 1."""
    fsdp = any(val.value is True for _, val in settings.get("use_megatron_fsdp", []))
    for key, val in settings.get("data_parallel_sharding_strategy" if fsdp else "use_distributed_optimizer", [])[:1]:
        if fsdp or val.value is True:
            reading.state("zero_stage", SHARDING.get(text_of(val), "unknown") if fsdp else 1, key, val.line)


def _remark(reading: Reading, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """A device count in the name or the docstring of the recipe, the weakest source."""
    named_devices = _NAMED_DEVICES.search(function.name) or _TOLD_DEVICES.search(
        (ast.get_docstring(function) or "").split("\n")[0]
    )
    if named_devices:
        reading.remark("accelerators", int(named_devices.group(1)), function.name, function.lineno)
