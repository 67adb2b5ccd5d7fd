"""nanotron YAML: the most complete format, all of a run in one file."""

from etl.importers.derive import attention_defaults
from etl.importers.facts import Reading
from etl.importers.read.documents import Document
from etl.importers.read.trees import find
from etl.importers.tables import Table, number, state, state_all, truth, warn_repeated

NAME = "nanotron_yaml"

# field -> keys; `lighteval.parallelism` and `lighteval.batch_size` are of the evaluation and stand elsewhere.
KEYS: Table = {
    "layers": ("model.model_config.num_hidden_layers",),
    "hidden": ("model.model_config.hidden_size",),
    "ffn_hidden": ("model.model_config.intermediate_size", "model.model_config.n_inner"),
    "heads": ("model.model_config.num_attention_heads",),
    "kv_heads": ("model.model_config.num_key_value_heads",),
    "head_dim": ("model.model_config.head_dim",),
    "vocab": ("model.model_config.vocab_size",),
    "tied_embeddings": ("model.model_config.tie_word_embeddings",),
    "dp": ("parallelism.dp",),
    "tp": ("parallelism.tp",),
    "pp": ("parallelism.pp",),
    "cp": ("parallelism.context_parallel_size",),
    "ep": ("parallelism.expert_parallel_size",),
    "zero_stage": ("optimizer.zero_stage", "zero_stage"),
    "micro_batch": ("tokens.micro_batch_size",),
    "seq_len": ("tokens.sequence_length",),
    "train_steps": ("tokens.train_steps",),
    "precision": ("model.dtype",),
}
MOE: Table = {
    "experts": ("num_experts", "num_local_experts", "moe_num_experts"),
    "experts_per_token": ("top_k", "num_experts_per_tok", "num_experts_per_token"),
    "moe_ffn_hidden": ("moe_intermediate_size", "moe_hidden_size"),
}


def detect(document: Document) -> float:
    """nanotron names `tokens.sequence_length` or `model.model_config` beside `parallelism`."""
    tree = document.tree
    if find(tree, "model.model_config") and find(tree, "parallelism", "tokens"):
        return 0.95
    return 0.9 if find(tree, "tokens.micro_batch_size") and find(tree, "parallelism.dp") else 0.0


def read(document: Document, _companions: list[Document]) -> Reading:
    """The facts of one nanotron file; it needs no companions."""
    reading, tree = Reading(NAME), document.tree
    state_all(reading, tree, KEYS)
    warn_repeated(reading, tree)
    recompute = find(tree, "parallelism.recompute_layer")
    layer = truth(tree, "parallelism.recompute_layer")
    if layer is not None:
        state(reading, "recompute", recompute, "full" if layer else "none")
    elif find(tree, "parallelism"):
        reading.default("recompute", "none", "nanotron: recompute_layer false")
    reading.extra["accumulation"] = number(tree, "tokens.batch_accumulation_per_replica")
    _experts(reading, document)
    reading.default("tied_embeddings", False, "nanotron: tie_word_embeddings false") if reading.get("layers") else None
    attention_defaults(reading, "nanotron")
    _architecture(reading, document)
    return reading


def _experts(reading: Reading, document: Document) -> None:
    moe = find(document.tree, "model.model_config.moe_config", "model.model_config")
    if moe is None or not isinstance(moe.value, dict) or (number(moe.value, *MOE["experts"]) or 1) <= 1:
        return
    state_all(reading, moe.value, MOE)
    if moe.key == "model.model_config" and reading.get("moe_ffn_hidden") is None:
        state(reading, "moe_ffn_hidden", find(moe.value, "intermediate_size"))
    shared = truth(moe.value, "enable_shared_expert")
    if shared is not None:
        state(reading, "shared_experts", find(moe.value, "enable_shared_expert"), 1 if shared else 0)
    reading.drop("ffn_hidden")
    if (reading.get("ep") or 1) > 1:  # the expert ranks multiply the devices and are not part of `dp`
        reading.drop("dp")
        reading.extra["any_devices"] = True


def _architecture(reading: Reading, document: Document) -> None:
    """A Llama or Qwen2 block: gated FFN, RMS norms; biases on q, k, v where `attention_bias` says so."""
    model = find(document.tree, "model.model_config")
    if model is None or find(model.value, "moe_config.num_experts") or not reading.get("ffn_hidden"):
        return
    llama, qwen = truth(model.value, "is_llama_config"), truth(model.value, "is_qwen2_config")
    if llama or qwen:
        reading.architecture.update(
            complete=True, gated_mlp=True, qkv_bias=bool(qwen and truth(model.value, "attention_bias"))
        )
