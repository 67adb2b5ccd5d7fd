"""NxD Training YAML (AWS Neuron): NeMo's names with the layout under `distributed_strategy`."""

from etl.importers.derive import attention_defaults
from etl.importers.facts import Reading
from etl.importers.read.documents import Document
from etl.importers.read.resolve import resolve
from etl.importers.read.trees import Map, find
from etl.importers.tables import Table, number, state, state_all, truth, warn_repeated, word

NAME = "nxd_yaml"
GROUP = "distributed_strategy"
KEYS: Table = {
    "layers": ("model.num_layers",),
    "hidden": ("model.hidden_size",),
    "heads": ("model.num_attention_heads",),
    "kv_heads": ("model.num_kv_heads", "model.num_query_groups"),
    "head_dim": ("model.kv_channels",),
    "ffn_hidden": ("model.ffn_hidden_size", "model.intermediate_size"),
    "tied_embeddings": ("model.share_embeddings_and_output_weights",),
    "tp": (f"{GROUP}.tensor_model_parallel_size",),
    "pp": (f"{GROUP}.pipeline_model_parallel_size",),
    "vpp": (f"{GROUP}.virtual_pipeline_model_parallel_size",),
    "cp": (f"{GROUP}.context_parallel_size",),
    "ep": (f"{GROUP}.expert_model_parallel_size",),
    "sequence_parallel": (f"{GROUP}.sequence_parallel",),
    "micro_batch": ("data.micro_batch_size", "model.micro_batch_size"),
    "global_batch": ("data.global_batch_size", "model.global_batch_size"),
    "seq_len": ("model.encoder_seq_length", "data.seq_length"),
    "train_steps": ("trainer.max_steps",),
    "precision": ("precision.type", "trainer.precision"),
}
PRECISIONS = {"mixed_precision": "bf16", "mixed_precisionsr": "bf16", "bf16sr": "bf16", "autocast": "bf16"}


def detect(document: Document) -> float:
    """A mapping `distributed_strategy` beside `trainer` and `model`."""
    tree = document.tree
    group = tree.get(GROUP)
    return 0.95 if isinstance(group, Map) and ("trainer" in tree or "model" in tree) else 0.0


def read(document: Document, _companions: list[Document]) -> Reading:
    """The facts of one file; `devices` counts the cores that a process drives."""
    reading, tree = Reading(NAME), resolve(document.tree).tree
    warn_repeated(reading, document.tree)
    state_all(reading, tree, KEYS)
    kind = word(tree, "precision.type")
    if kind in PRECISIONS:
        state(reading, "precision", find(tree, "precision.type"), PRECISIONS[kind])
    nodes, each = number(tree, "trainer.num_nodes"), number(tree, "trainer.devices")
    if nodes and each and nodes > 0 and each > 0:
        state(reading, "accelerators", find(tree, "trainer.num_nodes"), int(nodes * each))
    for field in ("tp", "pp", "cp"):
        if reading.get("layers"):
            reading.default(field, 1, f"NxD Training: {field} 1 when {GROUP} leaves it out")
    zero = truth(tree, f"{GROUP}.zero1")
    if zero is not None:
        state(reading, "zero_stage", find(tree, f"{GROUP}.zero1"), 1 if zero else 0)
    granularity = word(tree, "model.activations_checkpoint_granularity")
    if granularity in {"full", "selective"}:
        state(reading, "recompute", find(tree, "model.activations_checkpoint_granularity"))
    attention_defaults(reading, "NxD Training")
    return reading
