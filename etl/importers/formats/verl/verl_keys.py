"""verl's settings as a tree; actor, rollout and reference have a layout each, and the actor's is reported."""

from etl.importers.facts import Reading
from etl.importers.read.trees import Map, find
from etl.importers.tables import number, state, truth, word

ACTOR = "actor_rollout_ref.actor"
SFT = ("trainer.n_gpus_per_node", "trainer.nnodes")
MEGATRON = f"{ACTOR}.megatron"
TRANSFORMER = f"{MEGATRON}.override_transformer_config"
LAYOUT = {
    "tp": "tensor_model_parallel_size",
    "pp": "pipeline_model_parallel_size",
    "vpp": "virtual_pipeline_model_parallel_size",
    "cp": "context_parallel_size",
    "ep": "expert_model_parallel_size",
    "etp": "expert_tensor_parallel_size",
}
SOURCE = "volcengine/verl verl/trainer/config/_generated_ppo_megatron_trainer.yaml"


def state_run(reading: Reading, tree: Map, megatron: bool, whole: bool) -> None:
    """State the actor's layout; `megatron` is the trainer of that name, `whole` that the file leaves nothing out."""
    megatron = megatron or word(tree, f"{ACTOR}.strategy") == "megatron" or find(tree, MEGATRON) is not None
    micro = find(tree, f"{ACTOR}.ppo_micro_batch_size_per_gpu", "data.micro_batch_size_per_gpu")
    dynamic = truth(tree, f"{ACTOR}.use_dynamic_bsz")
    if not dynamic:
        state(reading, "micro_batch", micro)
    state(reading, "train_steps", find(tree, "trainer.total_training_steps"))
    nodes, each = number(tree, "trainer.nnodes"), number(tree, "trainer.n_gpus_per_node")
    if nodes and each and nodes > 0 and each > 0:
        state(reading, "accelerators", find(tree, "trainer.n_gpus_per_node"), int(nodes * each))
    if megatron:
        _megatron(reading, tree, whole)
    else:
        _fsdp(reading, tree, whole)
    _roles(reading, tree)


def _megatron(reading: Reading, tree: Map, whole: bool) -> None:
    for field, key in LAYOUT.items():
        state(reading, field, find(tree, f"{MEGATRON}.{key}"))
    granularity = find(tree, f"{TRANSFORMER}.recompute_granularity")
    state(reading, "recompute", granularity)
    if not whole:
        for field in ("tp", "pp", "cp"):
            reading.default(field, 1, f"verl: {field} 1 ({SOURCE})")
    sharded = truth(tree, f"{MEGATRON}.use_distributed_optimizer")
    if sharded is not None:
        state(reading, "zero_stage", find(tree, f"{MEGATRON}.use_distributed_optimizer"), 1 if sharded else 0)
    elif not whole:
        reading.default("zero_stage", 1, f"verl: use_distributed_optimizer true ({SOURCE})")


def _fsdp(reading: Reading, tree: Map, whole: bool) -> None:
    """FSDP shards fully over all devices unless `fsdp_size` names fewer; Ulysses cuts sequences inside DP."""
    saved = find(tree, "actor_rollout_ref.model.enable_gradient_checkpointing", "model.enable_gradient_checkpointing")
    if saved is not None and truth(tree, saved.key) is not None:
        state(reading, "recompute", saved, "full" if truth(tree, saved.key) else "none")
    shard = number(tree, f"{ACTOR}.fsdp_config.fsdp_size")
    devices = reading.get("accelerators")
    if shard and shard > 1 and devices and shard < devices:
        state(reading, "fsdp_shard", find(tree, f"{ACTOR}.fsdp_config.fsdp_size"))
    ulysses = number(
        tree, f"{ACTOR}.ulysses_sequence_parallel_size", f"{ACTOR}.fsdp_config.ulysses_sequence_parallel_size"
    )
    if ulysses and ulysses > 1:
        state(reading, "cp", find(tree, f"{ACTOR}.ulysses_sequence_parallel_size",
                                  f"{ACTOR}.fsdp_config.ulysses_sequence_parallel_size"))  # fmt: skip
    if not whole and find(tree, ACTOR) is not None:
        reading.default("tp", 1, "verl: FSDP actors have no tensor parallelism")
        reading.default("pp", 1, "verl: FSDP actors have no pipeline parallelism")
        reading.default("cp", 1, "verl: ulysses_sequence_parallel_size 1")
        reading.default("zero_stage", 3, "verl: FSDP shards fully")


def _roles(reading: Reading, tree: Map) -> None:
    """Say whose layout is printed, with the degrees of the other roles."""
    others = []
    for role, path in (("rollout", "actor_rollout_ref.rollout"), ("reference", "actor_rollout_ref.ref.megatron")):
        tp = number(tree, f"{path}.tensor_model_parallel_size")
        if tp:
            others.append(f"{role} tp {int(tp)}")
    if find(tree, ACTOR) is not None:
        tail = f"; not reported: {', '.join(others)}" if others else ""
        reading.warn("several-roles", f"the layout is that of the actor in training{tail}")
