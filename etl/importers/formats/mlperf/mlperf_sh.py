"""MLPerf Training submission configs: shell files of exported variables, sourced in order, with the YAML they feed."""

import re

from etl.importers.facts import Reading
from etl.importers.fields import truth, whole
from etl.importers.formats.megatron.megatron_sh import follow
from etl.importers.read.documents import Document
from etl.importers.read.resolve import Resolved, resolve
from etl.importers.read.trees import Found, find
from etl.importers.shell.follow import Shell

NAME = "mlperf_sh"

# Field -> the variables of NVIDIA and partners, then of AMD.
VARIABLES: dict[str, tuple[str, ...]] = {
    "tp": ("TENSOR_MODEL_PARALLEL", "TP", "PRIMUS_TP"),
    "pp": ("PIPELINE_MODEL_PARALLEL", "PP", "PRIMUS_PP"),
    "cp": ("CONTEXT_PARALLEL", "CP", "PRIMUS_CP"),
    "ep": ("EXPERT_PARALLEL", "EXPERT_MODEL_PARALLEL", "EP", "PRIMUS_EP"),
    "vpp": ("INTERLEAVED_PIPELINE", "VPP", "PRIMUS_VPP"),
    "micro_batch": ("MICRO_BATCH_SIZE", "MBS", "PRIMUS_MICRO_BATCH_SIZE"),
    "global_batch": ("GLOBAL_BATCH_SIZE", "GBS", "PRIMUS_GLOBAL_BATCH_SIZE"),
    "layers": ("NUM_LAYERS",),
    "hidden": ("HIDDEN_SIZE",),
    "ffn_hidden": ("FFN_HIDDEN_SIZE",),
    "heads": ("NUM_ATTENTION_HEADS",),
    "seq_len": ("ENCODER_SEQ_LENGTH", "MAX_SEQ_LEN", "SEQ_LENGTH", "PRIMUS_SEQ_LENGTH"),
}
NODES, PER_NODE = ("DGXNNODES", "NNODES"), ("DGXNGPU", "GPUS_PER_NODE")
# Field -> keys of the YAML that reads the variables.
KEYS: dict[str, tuple[str, ...]] = {
    "layers": ("model.overwritten_attributes.num_layers", "model.num_layers"),
    "hidden": ("model.hidden_size",),
    "ffn_hidden": ("model.ffn_hidden_size",),
    "heads": ("model.num_attention_heads",),
    "kv_heads": ("model.num_query_groups",),
    "seq_len": ("model.encoder_seq_length", "model.data.seq_length"),
    "tp": ("model.tensor_model_parallel_size",),
    "pp": ("model.pipeline_model_parallel_size",),
    "vpp": ("model.virtual_pipeline_model_parallel_size",),
    "cp": ("model.context_parallel_size",),
    "ep": ("model.expert_model_parallel_size",),
    "micro_batch": ("model.micro_batch_size",),
    "global_batch": ("model.global_batch_size",),
}
_NAMED = re.compile(r"_0*(\d+)x0*(\d+)x\d+")
_MARKS = re.compile(r"\b(?:DGXNNODES|DGXSYSTEM|DGXNGPU|MINIBS|MLPERF_\w+)\b")
_LAYOUT = re.compile(r"\b(?:TENSOR_MODEL_PARALLEL|MICRO_BATCH_SIZE|MBS|MINIBS|GBS|USE_DIST_OPTIMIZER|FP8)=")


def detect(document: Document) -> float:
    """A script that exports an MLPerf system and a layout, and starts nothing itself."""
    head = document.text[:100_000]
    return 0.85 if _MARKS.search(head) and _LAYOUT.search(head) else 0.0


def read(document: Document, companions: list[Document]) -> Reading:
    """Read the variables after all sourced files, then the YAML they feed."""
    shell, _, _ = follow(document, companions)
    reading = Reading(NAME)
    for name, variables in VARIABLES.items():
        _variable(reading, shell, name, variables)
    for config in companions:
        if config.kind == "yaml" and find(config.tree, "model", "trainer"):
            read_yaml_keys(reading, resolve(config.tree, _environment(shell)))
    _devices(reading, shell, document)
    _batch(reading, shell)
    _switches(reading, shell)
    reading.extra["cap"] = True
    return reading


def _environment(shell: Shell) -> dict[str, str]:
    return {name: word for name in shell.variables if (word := shell.word(name)) is not None}


def _variable(reading: Reading, shell: Shell, field: str, names: tuple[str, ...]) -> None:
    for name in names:
        word = shell.word(name)
        if word is not None and reading.state(field, word, name, shell.where.get(name)):
            return


def _devices(reading: Reading, shell: Shell, document: Document) -> None:
    """Nodes times devices; a missing device count stands only in the file name, where the nodes must agree."""
    nodes = next((n for name in NODES if (n := whole(shell.word(name)))), None)
    each = next((n for name in PER_NODE if (n := whole(shell.word(name)))), None)
    if not nodes:
        return
    key = next(name for name in NODES if whole(shell.word(name)))
    named = _NAMED.search(document.name)
    if each:
        reading.state("accelerators", nodes * each, f"{key} * devices per node", shell.where.get(key))
    elif named and int(named.group(1)[:9]) == nodes:
        reading.remark("accelerators", nodes * int(named.group(2)[:9]), f"file name {document.name}")


def _batch(reading: Reading, shell: Shell) -> None:
    """MINIBS is the batch of one data-parallel rank."""
    tp, pp, mini = reading.get("tp"), reading.get("pp"), whole(shell.word("MINIBS"))
    devices = reading.get("accelerators")
    if not mini or not devices or not tp or not pp or reading.get("global_batch"):
        return
    ways = tp * pp * (reading.get("cp") or 1)
    if devices % ways == 0:
        reading.derive("global_batch", mini * (devices // ways), "accelerators", "tp", "pp", "cp")


def _switches(reading: Reading, shell: Shell) -> None:
    sharded = shell.word("USE_DIST_OPTIMIZER")
    if sharded is not None and truth(sharded) is not None:
        reading.state(
            "zero_stage", int(truth(sharded) or 0), "USE_DIST_OPTIMIZER", shell.where.get("USE_DIST_OPTIMIZER")
        )
    word = precision_word(*(shell.word(n) for n in ("FP4", "FP4_RECIPE", "FP8", "FP8_RECIPE")))
    if word:
        name = "FP4" if word == "nvfp4" else "FP8"
        reading.state("precision", word, name, shell.where.get(name))
    granularity = shell.word("ACT_CKPT_GRANULARITY") or shell.word("RECOMPUTE_GRANULARITY")
    if granularity is not None:
        reading.state(
            "recompute", "none" if granularity.lower() in {"null", "none", ""} else granularity, "ACT_CKPT_GRANULARITY"
        )


def precision_word(fp4: object, fp4_recipe: object, fp8: object, fp8_recipe: object) -> str | None:
    """nvfp4, mxfp8 or fp8 by their switches; None for neither, and for four-bit formats the project has no word for.

    >>> precision_word("True", None, "False", None), precision_word(None, None, "True", "tensorwise")
    ('nvfp4', 'fp8')
    """
    if truth(fp4):
        return "nvfp4" if str(fp4_recipe or "nvfp4").lower() == "nvfp4" else None
    if truth(fp8):
        return "mxfp8" if str(fp8_recipe or "").lower() == "mxfp8" else "fp8"
    return None


def read_yaml_keys(reading: Reading, resolved: Resolved) -> None:
    """State the layout keys of the YAML; a key that rests on the default of an unset variable is a default."""
    for name, paths in KEYS.items():
        hits = find(resolved.tree, *paths)
        if hits is not None and reading.get(name) is None:
            _key(reading, name, hits, resolved)
    tree = resolved.tree
    nodes, each = find(tree, "trainer.num_nodes"), find(tree, "trainer.devices")
    if nodes and each and whole(nodes.value) and whole(each.value):
        assumed = {nodes.key, each.key} & resolved.assumed
        product = int(nodes.value) * int(each.value)
        if not assumed:
            reading.state("accelerators", product, "trainer.num_nodes * devices", nodes.line)
    granularity = find(tree, "model.activations_checkpoint_granularity")
    if granularity is not None:
        _key(reading, "recompute", granularity, resolved)
    elif isinstance(tree.get("model"), dict) and "activations_checkpoint_granularity" in tree["model"]:
        reading.default("recompute", "none", "NeMo: no granularity, nothing is recomputed")
    sharded = find(tree, "model.optim.use_distributed_optimizer")
    if sharded is not None and truth(sharded.value) is not None:
        _key(reading, "zero_stage", Found(int(truth(sharded.value) or 0), sharded.key, sharded.line), resolved)
    keys = ("model.fp4", "model.fp4_recipe", "model.fp8", "model.fp8_recipe")
    values = [hits.value if (hits := find(tree, key)) else None for key in keys]
    if (word := precision_word(*values)) is not None:
        reading.state("precision", word, "model.fp4" if word == "nvfp4" else "model.fp8")


def _key(reading: Reading, name: str, hits: Found, resolved: Resolved) -> None:
    if hits.key in resolved.assumed:
        reading.default(name, hits.value, f"{hits.key}: default of an unset variable")
    else:
        reading.state(name, hits.value, hits.key, hits.line)
