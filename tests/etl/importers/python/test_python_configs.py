"""InternEvo and metaseq: configs that are Python, read as syntax."""

import pytest

from etl.importers.problems import ImporterError

INTERN = """
    JOB_NAME = "small"
    HIDDEN_SIZE = 1024
    MLP_RATIO = 8 / 3
    data = dict(seq_len=512, micro_num=4, micro_bsz=2, total_steps=5 * 10, rampup_batch_size="")
    grad_scaler = dict(fp16=dict(initial_scale=2**16))
    model = dict(checkpoint=False, num_attention_heads=8, num_kv_attention_heads=2, vocab_size=1000,
                 hidden_size=HIDDEN_SIZE, num_layers=4, mlp_ratio=MLP_RATIO, dtype="torch.bfloat16",
                 norm_type="rmsnorm", no_bias=True)
    parallel = dict(zero1=dict(size=16), tensor=dict(size=2, mode="mtp"), pipeline=dict(size=1))
    generation = dict(top_k=50)
    # moe = dict(top_k=9)
    """
META = """
    class Size:
        n_layers: int
        emb_size: int
        n_heads: int
        d_head: int
        batch_size: int
        lr: float
        model_parallel: int

    M = 1024 * 1024
    MODEL_SIZES = {
        "small": Size(4, 256, 4, 64, int(0.5 * M), 1e-4, 2),
        "large": Size(8, 512, 8, 64, int(1.5 * M), 1e-4, 4),
    }
    """


def test_the_ffn_is_the_ratio_rounded_up_to_256(facts):
    # int(1024 * 8 / 3) = 2730, up to a multiple of 256: 2816
    assert facts("a.py", INTERN)["ffn_hidden"] == 2816


def test_a_group_size_is_no_stage(facts):
    assert facts("a.py", INTERN)["zero_stage"] == 1
    assert facts("a.py", INTERN.replace("zero1=dict(size=16)", "zero1=dict(size=1)"))["zero_stage"] == 0


def test_a_scaler_for_fp16_is_not_the_precision(facts):
    assert facts("a.py", INTERN)["precision"] == "bf16"


@pytest.mark.parametrize(("share", "word"), [("False", "none"), ("True", "full"), ("1.0", "full"), ("0.5", None)])
def test_recomputation_is_a_share_of_the_layers(facts, share, word):
    assert facts("a.py", INTERN.replace("checkpoint=False", f"checkpoint={share}")).get("recompute") == word


def test_sequence_ranks_are_not_tensor_ranks(facts):
    assert facts("a.py", INTERN)["tp"] == 2
    assert "tp" not in facts("a.py", INTERN.replace('mode="mtp"', 'mode="isp"'))


def test_generation_settings_and_comments_are_no_facts(facts):
    assert not {"experts", "experts_per_token", "global_batch", "dp"} & set(facts("a.py", INTERN))


def test_top_k_stands_in_the_model_or_in_a_later_dictionary(facts):
    text = INTERN.replace("num_layers=4", "num_layers=4, num_experts=8") + "moe = dict(top_k=2)\n"
    found = facts("a.py", text)
    assert (found["experts"], found["experts_per_token"]) == (8, 2)
    assert "ffn_hidden" not in found


def test_sizes_are_positional_and_the_batch_counts_tokens(reading):
    found = reading("sizes.py", META)
    values = [
        found.get(f) for f in ("layers", "hidden", "heads", "head_dim", "global_batch_tokens", "tp", "ffn_hidden")
    ]
    assert values == [4, 256, 4, 64, 524288, 2, 1024]
    assert any(w.startswith("several-runs") for w in found.warnings)


def test_flags_of_a_sweep_say_how_it_shards(facts):
    text = """
    from metaseq.launcher.sweep import hyperparam
    SEQ = 2048
    def grid(args):
        return [hyperparam("--ddp-backend", "fully_sharded"), hyperparam("--no-reshard-after-forward"),
                hyperparam("--fp16"), hyperparam("--checkpoint-activations"), hyperparam("--tokens-per-sample", SEQ)]
    """
    found = facts("sweep.py", text)
    assert (found["zero_stage"], found["precision"], found["recompute"], found["seq_len"]) == (2, "fp16", "full", 2048)


def test_nothing_is_run(reading, tmp_path):
    victim = tmp_path / "made"
    text = INTERN + f"__import__('pathlib').Path({str(victim)!r}).touch()\n    open({str(victim)!r}, 'w')\n"
    reading("a.py", text)
    assert not victim.exists()


@pytest.mark.parametrize("hostile", ["9 ** 9 ** 9", "'a' * 10 ** 9", "[0] * 10 ** 9", "1 << 10 ** 9", "10 ** 400"])
def test_expressions_that_would_explode_are_unknown(facts, hostile):
    assert "layers" not in facts("a.py", INTERN.replace("num_layers=4", f"num_layers={hostile}"))


def test_a_function_that_calls_itself_ends(facts):
    text = INTERN + "def f(x=1):\n        return f(x + 1) + f(x)\n    y = f()\n"
    assert facts("a.py", text)["layers"] == 4


def test_a_file_that_nests_without_end_is_one_sentence(reading):
    with pytest.raises(ImporterError, match="nests deeper"):
        reading("a.py", INTERN.replace("num_layers=4", "num_layers=" + "-" * 200 + "1"))
