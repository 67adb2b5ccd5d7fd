"""NeMo YAML with OmegaConf interpolation, and NeMo Automodel recipes."""

from etl.importers import fields
from etl.importers.derive import attention_defaults
from etl.importers.facts import Reading
from etl.importers.read.documents import Document
from etl.importers.read.resolve import resolve
from etl.importers.read.trees import Map, find
from etl.importers.tables import Table, agree, number, remark_devices, state, state_all, truth, warn_repeated, word

NAME = "nemo_yaml"

KEYS: Table = {
    "layers": ("model.num_layers",),
    "hidden": ("model.hidden_size",),
    "heads": ("model.num_attention_heads",),
    "kv_heads": ("model.num_query_groups",),
    "head_dim": ("model.kv_channels",),
    "tied_embeddings": ("model.share_embeddings_and_output_weights",),
    "experts": ("model.num_moe_experts",),
    "experts_per_token": ("model.moe_router_topk",),
    "moe_ffn_hidden": ("model.moe_ffn_hidden_size",),
    "tp": ("model.tensor_model_parallel_size", "trainer.strategy.tensor_model_parallel_size"),
    "pp": ("model.pipeline_model_parallel_size", "trainer.strategy.pipeline_model_parallel_size"),
    "vpp": ("model.virtual_pipeline_model_parallel_size", "trainer.strategy.virtual_pipeline_model_parallel_size"),
    "cp": ("model.context_parallel_size", "trainer.strategy.context_parallel_size"),
    "ep": ("model.expert_model_parallel_size", "trainer.strategy.expert_model_parallel_size"),
    "micro_batch": ("model.micro_batch_size", "data.micro_batch_size"),
    "global_batch": ("model.global_batch_size", "data.global_batch_size"),
    "train_steps": ("trainer.max_steps",),
}
AUTOMODEL: Table = {
    "tp": ("distributed.tp_size",),
    "pp": ("distributed.pp_size",),
    "cp": ("distributed.cp_size",),
    "ep": ("distributed.ep_size",),
    "global_batch": ("step_scheduler.global_batch_size",),
    "train_steps": ("step_scheduler.max_steps",),
}
LENGTHS = ("model.encoder_seq_length", "model.data.seq_length", "model.seq_length", "data.seq_length")
AUTOMODEL_LENGTHS = ("dataset.seq_len", "dataset.seq_length", "dataset.seqlen", "dataset.block_size")
SHARDING = {"full": 3, "hybrid": 3, "grad": 2}


def detect(document: Document) -> float:
    """A trainer with nodes and devices beside Megatron's names in the model, or Automodel's step scheduler."""
    tree = document.tree
    if isinstance(tree.get("distributed_strategy"), Map):
        return 0.0  # NxD Training
    if isinstance(tree.get("step_scheduler"), Map):
        return 0.9 if isinstance(tree.get("distributed"), Map) or "nemo_automodel" in document.text[:20_000] else 0.4
    trainer = find(tree, "trainer.num_nodes", "trainer.devices", "trainer.max_steps", "trainer.precision")
    model = find(
        tree,
        "model.tensor_model_parallel_size",
        "model.encoder_seq_length",
        "model.megatron_amp_O2",
        "model.micro_batch_size",
        "trainer.strategy.tensor_model_parallel_size",
    )
    return 0.95 if trainer and model else 0.5 if model else 0.0


def read(document: Document, _companions: list[Document]) -> Reading:
    """The facts of one file."""
    reading, tree = Reading(NAME), resolve(document.tree).tree
    warn_repeated(reading, document.tree)
    if isinstance(tree.get("step_scheduler"), Map):
        _automodel(reading, tree, document)
        return reading
    state_all(reading, tree, KEYS)
    agree(reading, "seq_len", [find(tree, p) for p in LENGTHS])
    nodes, each = number(tree, "trainer.num_nodes"), number(tree, "trainer.devices")
    if nodes and each and nodes > 0 and each > 0:
        state(reading, "accelerators", find(tree, "trainer.num_nodes"), int(nodes * each))
    if find(tree, "model.rampup_batch_size"):
        reading.extra["ramp"] = True
    reading.extra["etp"] = number(tree, "model.expert_tensor_parallel_size")
    _model(reading, tree)
    _precision(reading, tree)
    _sharding(reading, tree)
    _recompute(reading, tree)
    return reading


def _model(reading: Reading, tree: Map) -> None:
    """Widths, tying and attention; Megatron's rules fill what is null."""
    stated, experts = find(tree, "model.ffn_hidden_size"), (reading.get("experts") or 0) > 1
    if stated is not None and experts:
        reading.default("moe_ffn_hidden", fields.number(stated.value), "NeMo: an expert is ffn_hidden_size wide")
    elif stated is not None:
        state(reading, "ffn_hidden", stated)
    if reading.get("layers"):
        reading.default("tied_embeddings", True, "NeMo: share_embeddings_and_output_weights true")
        for field in ("tp", "pp", "cp"):
            reading.default(field, 1, "NeMo: parallel sizes are 1")
    attention_defaults(reading, "NeMo")


def _precision(reading: Reading, tree: Map) -> None:
    """fp8 only with `fp8: true`; `fp8_hybrid` only says which kind."""
    if truth(tree, "model.fp8") or word(tree, "model.fp8") in {"hybrid", "e4m3"}:
        state(reading, "precision", find(tree, "model.fp8"), "fp8")
    else:
        agree(reading, "precision", [find(tree, "trainer.precision"), find(tree, "model.precision")])


def _sharding(reading: Reading, tree: Map) -> None:
    """FSDP beats the optimizer's name; a distributed Megatron-core optimizer is stage 1."""
    if truth(tree, "model.fsdp"):
        stage = SHARDING.get(word(tree, "model.fsdp_sharding_strategy"))
        state(reading, "zero_stage", find(tree, "model.fsdp_sharding_strategy"), stage or "unknown")
        return
    name = find(tree, "model.optim.name", "optim.name")
    if name is not None and str(name.value) == "mcore_distributed_optim":
        state(reading, "zero_stage", name, 1)
    elif truth(tree, "optim.config.use_distributed_optimizer", "trainer.strategy.ddp.use_distributed_optimizer"):
        state(
            reading,
            "zero_stage",
            find(tree, "optim.config.use_distributed_optimizer", "trainer.strategy.ddp.use_distributed_optimizer"),
            1,
        )


def _recompute(reading: Reading, tree: Map) -> None:
    """`null` is none; so is silence."""
    model = tree.get("model")
    if not isinstance(model, Map):
        return
    for key in ("activations_checkpoint_granularity", "recompute_granularity"):
        if key in model:
            reading.state(
                "recompute", "none" if model[key] is None else model[key], f"model.{key}", model.lines.get(key)
            )
            return
    if reading.get("layers"):
        reading.default("recompute", "none", "NeMo: activations_checkpoint_granularity null")


def _automodel(reading: Reading, tree: Map, document: Document) -> None:
    """Automodel: sizes under `distributed`, batches under `step_scheduler`; the model is a hub name."""
    state_all(reading, tree, AUTOMODEL)
    agree(reading, "seq_len", [find(tree, p) for p in AUTOMODEL_LENGTHS])
    if reading.get("pp") in {None, 1}:
        state(reading, "micro_batch", find(tree, "step_scheduler.local_batch_size"))
    if truth(tree, "fp8.enabled"):
        state(reading, "precision", find(tree, "fp8.enabled"), "fp8")
    recipe = find(tree, "model.backend.te_fp8.recipe")
    if recipe is not None:
        kind = str(recipe.value).lower()
        state(reading, "precision", recipe, kind if kind in {"mxfp8", "nvfp4"} else "fp8")
    recompute = truth(tree, "distributed.activation_checkpointing")
    if recompute is not None:
        state(reading, "recompute", find(tree, "distributed.activation_checkpointing"), "full" if recompute else "none")
    remark_devices(reading, document)
