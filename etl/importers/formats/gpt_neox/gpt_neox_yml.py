"""GPT-NeoX yml: JSON-like YAML; the FFN width of a gated activation stands as three times itself."""

from etl.importers import fields
from etl.importers.derive import attention_defaults
from etl.importers.facts import Reading
from etl.importers.read.documents import Document
from etl.importers.read.trees import Map, find
from etl.importers.tables import Table, agree, number, remark_devices, state, state_all, truth, warn_repeated, word

NAME = "gpt_neox_yml"

KEYS: Table = {
    "layers": ("num_layers",),
    "hidden": ("hidden_size",),
    "heads": ("num_attention_heads",),
    "kv_heads": ("num_kv_heads",),
    "seq_len": ("seq_length",),
    "tp": ("model_parallel_size",),
    "cp": ("context_parallel_size",),
    "micro_batch": ("train_micro_batch_size_per_gpu",),
    "global_batch": ("train_batch_size",),
    "train_steps": ("train_iters",),
    "zero_stage": ("zero_optimization.stage",),
    "experts": ("moe_num_experts", "num_experts"),
    "experts_per_token": ("moe_top_k",),
    "ep": ("expert_parallel_size", "moe_expert_parallel_size"),
}
PLAIN_MLP = frozenset({"", "regular", "megatron", "mlp"})
GATED = frozenset({"swiglu", "geglu", "reglu", "bilinear", "glu"})
MARKS = (
    "pipe_parallel_size",
    "model_parallel_size",
    "train_micro_batch_size_per_gpu",
    "no_weight_tying",
    "zero_optimization",
    "output_layer_parallelism",
    "gpt_j_residual",
    "attention_config",
    "checkpoint_factor",
    "pos_emb",
)


def detect(document: Document) -> float:
    """Flat settings with the names of GPT-NeoX; names with dashes count as well."""
    tree = _underscored(document.tree)
    if "num_layers" not in tree and "pipe_parallel_size" not in tree:
        return 0.0
    return min(0.95, 0.2 * sum(mark in tree for mark in MARKS))


def _underscored(tree: Map) -> Map:
    """The same settings with `pipe-parallel-size` written as `pipe_parallel_size`, as older files do."""
    if not any("-" in key for key in tree):
        return tree
    copy = Map(tree.line)
    for key, value in tree.items():
        copy.put(key.replace("-", "_"), value, tree.lines.get(key, tree.line))
    copy.twice = tree.twice
    return copy


def read(document: Document, companions: list[Document]) -> Reading:
    """The facts of one file, with those of its companions beneath (NeoX merges several yml files)."""
    reading, tree = Reading(NAME), _underscored(document.tree)
    for other in companions:
        for key, value in (_underscored(other.tree) if other.kind in {"yaml", "json"} else Map()).items():
            if key not in tree:
                tree.put(key, value, 0)
    state_all(reading, tree, KEYS)
    warn_repeated(reading, tree)
    pipe = find(tree, "pipe_parallel_size")
    if number(tree, "pipe_parallel_size") is not None:
        state(reading, "pp", pipe, max(1, int(number(tree, "pipe_parallel_size") or 0)))
    _tying(reading, tree)
    _attention(reading, tree)
    _width(reading, tree)
    _precision(reading, tree)
    checkpoint = truth(tree, "checkpoint_activations")
    if checkpoint is not None:
        state(reading, "recompute", find(tree, "checkpoint_activations"), "full" if checkpoint else "none")
    reading.extra["accumulation"] = number(tree, "gradient_accumulation_steps", "gas")
    remark_devices(reading, document)
    return reading


def _tying(reading: Reading, tree: Map) -> None:
    untied = truth(tree, "no_weight_tying")
    if untied is not None:
        state(reading, "tied_embeddings", find(tree, "no_weight_tying"), not untied)
    elif reading.get("layers"):
        reading.default("tied_embeddings", True, "GPT-NeoX: no_weight_tying false")


def _attention(reading: Reading, tree: Map) -> None:
    """Layers of `attention_config` that are all Mamba or RWKV have no attention heads."""
    config = find(tree, "attention_config")
    kinds = {
        str(k).lower()
        for row in (config.value if config and isinstance(config.value, list) else [])
        for k in _kinds(row)
    }
    if kinds and kinds <= {"mamba", "rwkv"}:
        reading.drop("heads", "kv_heads")
        reading.architecture["no_attention"] = True
    else:
        attention_defaults(reading, "GPT-NeoX")


def _kinds(row: object) -> list[object]:
    """The kinds of one `[["flash", "mamba"], 12]` row, or the row itself where it is a plain list of kinds."""
    if isinstance(row, list) and row and isinstance(row[0], list):
        return list(row[0])
    return [row] if isinstance(row, str) else []


def _width(reading: Reading, tree: Map) -> None:
    """4h for a plain activation. Gated: int(width*2/3)//2 up to a multiple of `mlp_multiple_of`."""
    hidden = reading.get("hidden")
    if reading.architecture.get("no_attention") or not hidden:
        return
    stated, gated = find(tree, "intermediate_size", "ffn_hidden_size"), word(tree, "activation") in GATED
    width = fields.whole(number(tree, "intermediate_size", "ffn_hidden_size"))
    llama = (
        word(tree, "mlp_type") == "llama"
    )  # gated where the version knows it, and there the width is that of one matrix
    if not gated and word(tree, "mlp_type") not in PLAIN_MLP and not llama:
        reading.warn("ffn-ambiguous", f"mlp_type {word(tree, 'mlp_type')}: forks round a gated width as they like")
        return
    if not gated and (width or not llama):
        if width:
            state(reading, "ffn_hidden", stated)
        else:
            reading.default("ffn_hidden", 4 * hidden, "GPT-NeoX: intermediate_size = 4 * hidden_size")
    elif width:
        multiple = int(number(tree, "mlp_multiple_of") or 1)
        state(reading, "ffn_hidden", stated, -(-(int(width * 2 / 3) // 2) // multiple) * multiple)
    else:
        reading.warn(
            "ffn-ambiguous",
            "a gated FFN without intermediate_size: versions of GPT-NeoX disagree about its width",
        )
    if reading.get("experts") and (reading.get("experts") or 1) > 1:
        reading.drop("ffn_hidden")


def _precision(reading: Reading, tree: Map) -> None:
    """The `precision` word and the enabled fp16 or bf16 block; fp8 blocks of Transformer Engine win."""
    if truth(tree, "te_fp8", "fp8.enabled"):
        state(reading, "precision", find(tree, "te_fp8", "fp8.enabled"), "fp8")
        return
    places = [find(tree, "precision")]
    enabled = [name for name in ("fp16", "bf16") if truth(tree, f"{name}.enabled")]
    if places[0] is None and len(enabled) == 1:
        kind = find(tree, f"{enabled[0]}.type")  # older files enable bf16 as a type of the fp16 block
        state(reading, "precision", kind or find(tree, f"{enabled[0]}.enabled"), kind.value if kind else enabled[0])
    elif places[0] is not None:
        agree(reading, "precision", places)
