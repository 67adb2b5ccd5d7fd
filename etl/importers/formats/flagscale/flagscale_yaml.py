"""FlagScale YAML: Megatron's arguments under `system`, `model` and `data`, with its own FFN multiplier."""

from etl.importers.facts import Reading
from etl.importers.formats.megatron.megatron_args import merged, state_model, state_run
from etl.importers.read.documents import Document
from etl.importers.read.resolve import resolve
from etl.importers.read.trees import Map, find
from etl.importers.tables import number, state, truth, warn_repeated, word

NAME = "flagscale_yaml"


def detect(document: Document) -> float:
    """`system` and `model` side by side, or an experiment that names its task and runner."""
    tree = document.tree
    if isinstance(tree.get("system"), Map) and isinstance(tree.get("model"), Map):
        return 0.95 if find(tree, "model.num_layers", "model.seq_length", "system.tensor_model_parallel_size") else 0.3
    return 0.8 if find(tree, "experiment.runner") and find(tree, "experiment.task") else 0.0


def read(document: Document, companions: list[Document]) -> Reading:
    """The facts of a training file, or of an experiment with its training file beside it."""
    reading = Reading(NAME)
    roots = [d.tree for d in [document, *companions] if d.kind == "yaml"]
    trees = [resolve(_both(roots)).tree]
    tree = trees[0]
    warn_repeated(reading, document.tree)
    system = _part(tree, "system")
    args = merged(system, _part(system, "precision"), _part(_part(tree, "data"), "tokenizer"), _part(tree, "model"))
    state_run(reading, args)
    state_model(reading, args, "FlagScale")
    if reading.get("layers"):
        for field in ("tp", "pp", "cp"):
            reading.default(field, 1, "Megatron: parallel sizes are 1")
        reading.default("zero_stage", 0, "Megatron: no distributed optimizer") if not truth(
            args, "use_megatron_fsdp"
        ) else None
        reading.default("recompute", "none", "Megatron: no recomputation")
    _meshes(reading, system)
    _devices(reading, tree)
    _architecture(reading, args)
    return reading


def _both(roots: list[Map]) -> Map:
    """The roots of all files as one mapping, the first file strongest."""
    tree = Map()
    for root in roots:
        for key, value in root.items():
            if key not in tree:
                tree.put(key, value, root.lines.get(key, 0))
    return tree


def _part(tree: Map, key: str) -> Map:
    value = tree.get(key)
    return value if isinstance(value, Map) else Map()


def _meshes(reading: Reading, system: Map) -> None:
    """Unequal meshes have no single layout."""
    hetero = find(system, "hetero.enable_hetero", "enable_hetero")
    if hetero is not None and truth(system, "hetero.enable_hetero", "enable_hetero"):
        reading.drop("tp", "pp", "cp", "ep", "dp", "vpp")


def _devices(reading: Reading, tree: Map) -> None:
    nodes, each = number(tree, "experiment.runner.nnodes"), number(tree, "experiment.runner.nproc_per_node")
    if nodes and each:
        state(reading, "accelerators", find(tree, "experiment.runner.nnodes"), int(nodes * each))


def _architecture(reading: Reading, args: Map) -> None:
    """A gated RMS-norm block without linear biases; biases on q, k, v by `add_qkv_bias`."""
    plain = truth(args, "disable_bias_linear") and truth(args, "swiglu") and word(args, "normalization") == "rmsnorm"
    positions = word(args, "position_embedding_type") == "rope" or truth(args, "use_rotary_position_embeddings")
    if (
        not (plain and positions and reading.get("vocab"))
        or reading.architecture.get("mla")
        or reading.get("kv_heads") is None
    ):
        return
    if (reading.get("experts") or 0) > 1:
        return
    reading.architecture.update(
        complete=True,
        gated_mlp=True,
        qkv_bias=bool(truth(args, "add_qkv_bias")),
        qk_norm="head" if truth(args, "qk_layernorm") else "none",
    )
