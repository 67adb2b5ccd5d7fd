"""Local attention, prediction modules and parts that no formula covers, of a Hugging Face architecture.

Sources: the modelling code of the transformers library (4.5x), one rule for each family.
"""

from etl.importers.facts import Reading
from etl.importers.fields import truth, whole
from etl.importers.read.trees import Map, find

LOCAL = "sliding_attention"
ATTENTION = frozenset({"full_attention", LOCAL, "attention", "chunked_attention"})
EVERY_LAYER = frozenset({"mistral", "mixtral", "phi3", "starcoder2", "ministral", "phimoe"})
EVERY_OTHER = frozenset({"gemma2", "gpt_oss"})
SWITCHED = frozenset({"qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "qwen2_5_vl_text", "qwen2_vl_text"})
PATTERN = {"gemma3": 6, "gemma3_text": 6, "cohere2": 4, "olmo3": 4}
"""Families whose every n-th layer attends globally, with n where the file is silent."""
STATE_SPACE = frozenset({"mamba", "mamba2", "falcon_mamba", "rwkv", "jamba", "bamba", "falcon_h1", "lfm2", "zamba2"})
PREDICTIONS = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers", "mtp_num_layers")


def describe(reading: Reading, text: Map, family: str) -> None:
    """State the window with the layers that it holds for and the prediction modules; say what no formula covers."""
    modules = find(text, *PREDICTIONS)
    if modules is not None and whole(modules.value):
        reading.state("mtp_layers", modules.value, modules.key, modules.line)
    window = find(text, "sliding_window", "attn_config.sliding_window_size", "sliding_window_size")
    layers = reading.get("layers")
    if window is not None and layers and (whole(window.value) or 0) > 1:
        local = _local_layers(text, family, layers)
        if local is None:
            reading.warn(
                "window-unclear", f"{window.key} {window.value}: the file does not say which layers attend locally"
            )
        elif local:
            reading.state("sliding_window", window.value, window.key, window.line)
            reading.state("sliding_window_layers", local, window.key, window.line, "derived")
    if not reading.architecture.get("not_modelled"):
        reading.not_modelled(*_beyond(reading, text, family))


def _local_layers(text: Map, family: str, layers: int) -> int | None:
    """How many layers attend to the window only; None where neither the file nor the family says."""
    kinds = text.get("layer_types")
    if isinstance(kinds, list) and kinds:
        return len([kind for kind in kinds[:layers] if kind == LOCAL])
    if family in SWITCHED:
        return (
            max(0, layers - (whole(text.get("max_window_layers")) or 0)) if truth(text.get("use_sliding_window")) else 0
        )
    if truth(text.get("use_sliding_window", True)) is False:
        return 0
    if family in EVERY_LAYER:
        return layers
    if family in EVERY_OTHER:
        return (layers + 1) // 2
    step = whole(text.get("sliding_window_pattern")) or PATTERN.get(family)
    return layers - layers // step if step and family in PATTERN else None


def _beyond(reading: Reading, text: Map, family: str) -> list[str]:
    """Parts of the model that the engine has no formula for."""
    hits = []
    kinds = text.get("layer_types")
    others = {str(k) for k in kinds if isinstance(k, str)} - ATTENTION if isinstance(kinds, list) else set()
    linear = text.get("full_attention_interval") or text.get("linear_attn_config") or text.get("linear_num_key_heads")
    mixed = text.get("attn_type_list")
    described = "linear_layers" in reading.architecture
    if not described and (others or linear or (isinstance(mixed, list) and 0 in mixed)):
        hits.append("layers of linear attention or state space" + (f" ({', '.join(sorted(others))})" if others else ""))
    elif "M" in str(text.get("hybrid_override_pattern") or "") or family in STATE_SPACE or "mamba_d_state" in text:
        hits.append("Mamba layers")
    if isinstance(text.get("block_configs"), list):
        hits.append("layers of different widths")
    if truth(text.get("is_encoder_decoder")):
        hits.append("an encoder beside the decoder")
    if reading.architecture.get("shared_unclear"):
        hits.append("shared experts of a width that two keys contradict")
    return hits
