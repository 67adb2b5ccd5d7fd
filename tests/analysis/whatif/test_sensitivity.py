"""The inputs on which a verdict hangs."""

from analysis.whatif.fit import fit
from analysis.whatif.sensitivity import flips

LAYOUT = {"accelerator": "nvidia/h100-sxm-80gb", "accelerators": 64, "tp": 8, "pp": 4, "seq_len": 4096,
          "global_batch": 64, "micro_batch": 1, "precision": "bf16", "attention_kernel": "flash", "zero_stage": 1,
          "recompute": "none"}  # fmt: skip


def named(one, catalogue):
    return {flip.name: flip for flip in flips(one.layout, one.verdict == "could-fit", one.card_gib, catalogue)}


def test_each_flip_is_one_when_it_is_tried(catalogue):
    model = catalogue.models["meta/llama-3.1-70b"]
    one = fit(model, LAYOUT, catalogue)
    result = named(one, catalogue)
    assert {"micro_batch", "seq_len"} <= set(result)
    for name in ("micro_batch", "seq_len"):
        assert fit(model, LAYOUT | {name: result[name].flips_at}, catalogue).verdict == result[name].verdict
        assert fit(model, LAYOUT | {name: result[name].flips_at // 2}, catalogue).verdict == one.verdict


def test_a_layout_that_does_not_fit_names_what_would(catalogue):
    model = catalogue.models["meta/llama-3.1-70b"]
    one = fit(model, LAYOUT | {"tp": 2, "pp": 2}, catalogue)
    result = named(one, catalogue)
    assert one.verdict == "does-not-fit"
    assert result["tp"].flips_at > 2
    assert "could fit" in result["tp"].text()


def test_what_no_program_starts_is_not_offered(catalogue):
    # 64 heads, 8 KV heads, 80 layers: TP and PP that divide neither are no way out.
    result = named(fit(catalogue.models["meta/llama-3.1-70b"], LAYOUT, catalogue), catalogue)
    assert all(64 % flip.flips_at == 0 for flip in result.values() if flip.name == "tp")
