"""NeMo-RL YAML: a policy trained by DTensor or Megatron, generation beside it, other files beneath `defaults`."""

from pathlib import PurePosixPath

from etl.importers.facts import Reading
from etl.importers.read.documents import Document
from etl.importers.read.resolve import resolve
from etl.importers.read.trees import Map, find
from etl.importers.tables import Table, number, state, state_all, truth, warn_repeated

NAME = "nemo_rl_yaml"
KEYS: Table = {
    "micro_batch": ("policy.train_micro_batch_size",),
    "global_batch": ("policy.train_global_batch_size",),
    "seq_len": ("policy.max_total_sequence_length",),
    "precision": ("policy.precision",),
    "train_steps": ("grpo.max_num_steps", "sft.max_num_steps", "dpo.max_num_steps", "distillation.max_num_steps"),
}
MEGATRON: Table = {
    "tp": ("policy.megatron_cfg.tensor_model_parallel_size",),
    "pp": ("policy.megatron_cfg.pipeline_model_parallel_size",),
    "cp": ("policy.megatron_cfg.context_parallel_size",),
    "ep": ("policy.megatron_cfg.expert_model_parallel_size",),
    "etp": ("policy.megatron_cfg.expert_tensor_parallel_size",),
    "sequence_parallel": ("policy.megatron_cfg.sequence_parallel",),
}
DTENSOR: Table = {
    "tp": ("policy.dtensor_cfg.tensor_parallel_size",),
    "cp": ("policy.dtensor_cfg.context_parallel_size",),
    "ep": ("policy.dtensor_cfg.expert_parallel_size",),
}


def detect(document: Document) -> float:
    """A policy with NeMo-RL's batches or back ends."""
    tree = document.tree
    marks = ("train_global_batch_size", "train_micro_batch_size", "dtensor_cfg", "megatron_cfg", "generation")
    policy = tree.get("policy")
    count = sum(mark in policy for mark in marks) if isinstance(policy, Map) else 0
    return (
        min(0.95, 0.6 + 0.1 * count)
        if count and {"grpo", "sft", "dpo", "cluster", "defaults", "ppo"} & tree.keys()
        else 0
    )


def read(document: Document, companions: list[Document]) -> Reading:
    """The facts of one file on top of those it names under `defaults`, where they are given."""
    reading = Reading(NAME)
    warn_repeated(reading, document.tree)
    tree = resolve(_layered(document, companions)).tree
    state_all(reading, tree, KEYS)
    if find(tree, "grpo.max_num_steps", "sft.max_num_steps", "dpo.max_num_steps"):
        reading.extra["cap"] = True  # epochs may end the run before
    nodes, each = number(tree, "cluster.num_nodes"), number(tree, "cluster.gpus_per_node")
    apart = truth(tree, "policy.generation.colocated.enabled") is False
    if nodes and each and nodes > 0 and each > 0 and not apart:
        state(reading, "accelerators", find(tree, "cluster.gpus_per_node"), int(nodes * each))
    megatron = truth(tree, "policy.megatron_cfg.enabled")
    if megatron is None and find(tree, "policy.dtensor_cfg") is None:
        megatron = find(tree, "policy.megatron_cfg") is not None  # enabled in a file beneath that is not given
    table = MEGATRON if megatron else DTENSOR if truth(tree, "policy.dtensor_cfg.enabled") else {}
    state_all(reading, tree, table)
    if table is DTENSOR:
        reading.default("pp", 1, "NeMo-RL: the DTensor policy has no pipeline")
        reading.default("zero_stage", 3, "NeMo-RL: the DTensor policy is sharded by FSDP2")
    switch = find(tree, f"policy.{'megatron' if megatron else 'dtensor'}_cfg.activation_checkpointing")
    if table and switch is not None and truth(tree, switch.key) is not None:
        state(reading, "recompute", switch, "full" if truth(tree, switch.key) else "none")
    sharded = find(tree, "policy.megatron_cfg.optimizer.use_distributed_optimizer")
    if megatron and sharded is not None:
        state(reading, "zero_stage", sharded, 1 if truth(tree, sharded.key) else 0)
    if truth(tree, "policy.megatron_cfg.fp8_cfg.enabled"):
        state(reading, "precision", find(tree, "policy.megatron_cfg.fp8_cfg.enabled"), "fp8")
    if isinstance(find(tree, "policy.generation"), object) and find(tree, "policy.generation") is not None:
        reading.warn("several-roles", "the layout is that of the policy in training; generation has its own")
    return reading


def _layered(document: Document, companions: list[Document]) -> Map:
    """The file over the files it extends, as far as they are given; without them nothing is assumed."""
    files = {c.name: c.tree for c in companions if c.kind == "yaml"}
    order, tree = [document.tree], document.tree
    while len(order) < 10:
        named = tree.get("defaults")
        name = PurePosixPath(str(named[0] if isinstance(named, list) and named else named or "")).name
        if name not in files or files[name] in order:
            break
        tree = files[name]
        order.append(tree)
    made = Map()
    for layer in reversed(order):
        made = _over(made, layer)
    return made


def _over(below: Map, top: Map) -> Map:
    made = Map(top.line)
    for tree in (below, top):
        for key, value in tree.items():
            under = made.get(key)
            merged = _over(under, value) if isinstance(under, Map) and isinstance(value, Map) else value
            made.merged.add(key)
            made.put(key, merged, tree.lines.get(key, tree.line))
    return made
