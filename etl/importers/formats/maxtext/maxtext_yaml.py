"""MaxText YAML layers: command line over run file over models/NAME.yml over base.yml."""

from collections.abc import Iterable

from etl.importers import fields
from etl.importers.facts import Reading
from etl.importers.formats.maxtext import maxtext_keys
from etl.importers.read.documents import Document
from etl.importers.read.trees import Map, find
from etl.importers.tables import state, warn_repeated, word

NAME = "maxtext_yaml"

ARCHITECTURE = ("base_emb_dim", "base_num_decoder_layers", "base_mlp_dim", "base_num_query_heads")


def detect(document: Document) -> float:
    """Names that begin with base_, or a run file with MaxText's lengths."""
    tree = document.tree
    count = sum(k in tree for k in (*ARCHITECTURE, "decoder_block", "logits_via_embedding"))
    run = sum(
        k in tree
        for k in ("base_config", "max_target_length", "per_device_batch_size", "remat_policy", "ici_fsdp_parallelism")
    )
    return min(0.95, 0.2 * count + 0.25 * run) if count > 1 or run > 1 else 0.0


def read(document: Document, companions: list[Document]) -> Reading:
    """The facts of a model file alone, or of a run file with the layers beside it."""
    reading = Reading(NAME)
    warn_repeated(reading, document.tree)
    files = [document, *(c for c in companions if c.kind == "yaml")]
    tree = layered([d.tree for d in files], Map())
    models = model_files(d.tree for d in files)
    maxtext_keys.state_model(reading, tree, models)
    if any(_is_run(d.tree) for d in files):
        maxtext_keys.state_run(reading, tree)
    maxtext_keys.architecture(reading, tree, models)
    merged_layers(reading, document)
    return reading


def _is_base(tree: Map) -> bool:
    return "base_output_directory" in tree and "base_emb_dim" in tree and "ici_fsdp_parallelism" in tree


def _is_run(tree: Map) -> bool:
    return any(k in tree for k in ("max_target_length", "per_device_batch_size", "steps", "remat_policy"))


def model_files(trees: Iterable[Map]) -> list[Map]:
    """The layers that describe a model: neither base nor a run file without any width."""
    return [t for t in trees if not _is_base(t) and (not _is_run(t) or "base_emb_dim" in t)]


def layered(trees: Iterable[Map], command: Map) -> Map:
    """The layers as one mapping; each wins over those below it."""
    order = sorted(trees, key=lambda t: 0 if _is_base(t) else 2 if _is_run(t) else 1)
    tree = Map()
    for layer in [*order, command]:
        for key, value in layer.items():
            tree.merged.add(key)
            tree.put(key, value, layer.lines.get(key, layer.line))
    return tree


def check_override(reading: Reading, layers: Iterable[Map], command: Map) -> None:
    """Warn when the command line changes what the model file fixes."""
    for layer in layers:
        if _is_base(layer):
            continue
        for key in (*ARCHITECTURE, "base_num_kv_heads", "head_dim", "attention_type", "num_experts", "decoder_block"):
            if key in command and key in layer and str(command[key]) != str(layer[key]):
                reading.warn(
                    "override-changes-model",
                    f"the command line sets {key} to {command[key]}, the model file to {layer[key]}",
                )


def merged_layers(reading: Reading, document: Document) -> None:
    """A gemma2 block holds two layers: say so where the file's own comment does."""
    place = find(document.tree, "base_num_decoder_layers")
    if place is None or word(document.tree, "decoder_block") != "gemma2":
        return
    if "half" in document.comment(place.line).lower() or "merge" in document.comment(place.line).lower():
        count = fields.whole(place.value)
        reading.warn(
            "comment-disagrees", f"{count} blocks of two layers each, as the comment on line {place.line} says"
        )
        state(reading, "layers", place, 2 * (count or 0))
