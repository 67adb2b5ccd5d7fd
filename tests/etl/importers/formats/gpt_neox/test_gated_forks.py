"""Forks of GPT-NeoX with a gated MLP round its width as they like."""


def test_a_gated_mlp_of_unknown_rounding_has_no_width(reading):
    found = reading(
        "a.yml",
        """\
        {"num-layers": 4, "hidden-size": 256, "num-attention-heads": 4, "mlp_type": "gated",
         "pipe-parallel-size": 1, "model-parallel-size": 1, "train_micro_batch_size_per_gpu": 2, "gas": 5,
         "zero_optimization": {"stage": 1}}
        """,
    )
    assert "ffn_hidden" not in found.facts
    assert found.extra["accumulation"] == 5
