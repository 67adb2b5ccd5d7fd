"""InternEvo Python configs: module-level dictionaries, read as syntax."""

import re

from etl.importers.derive import attention_defaults
from etl.importers.facts import Reading
from etl.importers.python.statements import Program
from etl.importers.python.static import Node, Val, is_number, numeric
from etl.importers.read.documents import Document

NAME = "internevo_py"

# field -> path from the module's names.
KEYS: dict[str, tuple[str, ...]] = {
    "layers": ("model", "num_layers"),
    "hidden": ("model", "hidden_size"),
    "heads": ("model", "num_attention_heads"),
    "kv_heads": ("model", "num_kv_attention_heads"),
    "head_dim": ("model", "head_dim"),
    "vocab": ("model", "vocab_size"),
    "experts": ("model", "num_experts"),
    "experts_per_token": ("model", "top_k"),
    "shared_experts": ("model", "num_shared_experts"),
    "precision": ("model", "dtype"),
    "seq_len": ("data", "seq_len"),
    "micro_batch": ("data", "micro_bsz"),
    "train_steps": ("data", "total_steps"),
}
MULTIPLE = 256
PLAIN_MODELS = ("INTERNLM2", "INTERNLM2_PUBLIC", "LLAMA2", "LLAMA")


def detect(document: Document) -> float:
    """A module-level `model = dict(...)` beside the names InternEvo uses."""
    if not re.search(r"^model\s*=\s*dict\(", document.text, re.M):
        return 0.0
    marks = re.findall(
        r"^(?:parallel|hybrid_zero_optimizer|grad_scaler|beta2_scheduler|NUM_ATTENTION_HEAD|MLP_RATIO|JOB_NAME)\s*=",
        document.text,
        re.M,
    )
    return min(0.95, 0.3 + 0.3 * len(set(marks)))


def read(document: Document, companions: list[Document]) -> Reading:
    """The facts of one config; a `_base_` it names is a companion that is read first."""
    reading, names = Reading(NAME), {}
    for part in [*companions, document]:
        if part.kind == "python":
            names.update(Program(part).names)
    top = Node("module", 1, (), names)
    for field, path in KEYS.items():
        _state(reading, field, top.get(*path), ".".join(path))
    _state(reading, "experts_per_token", top.get("moe", "top_k"), "moe.top_k")
    if any(n.startswith("_base_") for n in names) and not companions:
        reading.warn("missing-base", "the file builds on a base config that is not given")
    _width(reading, top)
    _parallel(reading, top)
    _recompute(reading, top)
    _ramp(reading, top)
    kind = names.get("model_type")
    if reading.get("layers") and not str(kind.value if kind else "").upper().startswith("GEMMA"):
        reading.default("tied_embeddings", False, "InternEvo: the output head has its own matrix")
    attention_defaults(reading, "InternEvo")
    _architecture(reading, top)
    return reading


def _state(reading: Reading, field: str, val: Val | None, key: str) -> None:
    if val is not None and not isinstance(val.value, Node):
        reading.state(field, val.value if isinstance(val.value, int | float | str) else None, key, val.line)


def _width(reading: Reading, top: Node) -> None:
    """FFN = int(hidden*ratio) up to a multiple of 256; with experts that is the width of one expert."""
    ratio, hidden = top.get("model", "mlp_ratio"), reading.get("hidden")
    factor = numeric(ratio)
    if ratio is None or not factor or not hidden:
        return
    multiple = numeric(top.get("model", "multiple_of")) or MULTIPLE
    width = -(-int(hidden * factor) // multiple) * multiple
    if (reading.get("experts") or 1) == 1:
        reading.state("ffn_hidden", width, "model.mlp_ratio", ratio.line)
    elif width == int(
        hidden * factor
    ):  # kinds of experts round in different ways: only a width that needs none is sure
        reading.state("moe_ffn_hidden", width, "model.mlp_ratio", ratio.line)


def _size(val: Val | None) -> Val | None:
    """A degree stands as a number or as `dict(size=...)`."""
    return val.value.fields.get("size") if val is not None and isinstance(val.value, Node) else val


def _parallel(reading: Reading, top: Node) -> None:
    tensor, mode = _size(top.get("parallel", "tensor")), top.get("parallel", "tensor", "mode")
    by_sequence = mode is not None and mode.value == "isp" and numeric(tensor) != 1
    if not by_sequence:  # "isp" splits the sequence over these ranks, not the tensors
        _state(reading, "tp", tensor, "parallel.tensor")
    _state(reading, "pp", _size(top.get("parallel", "pipeline")), "parallel.pipeline")
    _state(reading, "ep", _size(top.get("parallel", "expert")), "parallel.expert.size")
    chunks = top.get("model", "num_chunks")
    if chunks is not None and (numeric(chunks) or 0) > 1:
        _state(reading, "vpp", chunks, "model.num_chunks")
    fsdp, group = top.get("parallel", "zero1", "fsdp"), _size(top.get("parallel", "zero1"))
    if fsdp is not None and fsdp.value is True:
        reading.state("zero_stage", 3, "parallel.zero1.fsdp", fsdp.line)
    elif group is not None and is_number(group.value):
        reading.state("zero_stage", 0 if group.value == 1 else 1, "parallel.zero1.size", group.line)


def _recompute(reading: Reading, top: Node) -> None:
    """`checkpoint` is False, True or a share of the layers; a share in between has no single name."""
    val = top.get("model", "checkpoint")
    share = None if val is None or isinstance(val.value, Node | str | list) else val.value
    if val is not None and share in (0, 1):
        reading.state("recompute", "full" if share else "none", "model.checkpoint", val.line)


def _ramp(reading: Reading, top: Node) -> None:
    """Accumulation multiplies the batch; a ramp string makes the token count no product."""
    reading.extra["accumulation"] = numeric(top.get("data", "micro_num"))
    ramp = top.get("data", "rampup_batch_size")
    if ramp is not None and ramp.value:
        reading.extra["ramp"] = True


def _architecture(reading: Reading, top: Node) -> None:
    """A Llama-like block without biases, where the file says so and no experts stand in the way."""
    no_bias, norm = top.get("model", "no_bias"), top.get("model", "norm_type")
    kind = top.get("model_type")
    plain = no_bias is not None and no_bias.value is True and norm is not None and norm.value == "rmsnorm"
    plain = plain and kind is not None and kind.value in PLAIN_MODELS
    if plain and not reading.get("experts") and reading.get("ffn_hidden"):
        reading.architecture.update(complete=True, gated_mlp=True)
