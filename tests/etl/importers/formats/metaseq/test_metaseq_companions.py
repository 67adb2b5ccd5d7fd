"""metaseq: sizes in one file, the flags of the sweep in another."""


def test_flags_of_the_sweep_beside(facts):
    sizes = """\
        from metaseq.launcher.sweep import Size
        TOTAL_TRAIN_TOKENS = int(5e9)
        MODEL_SIZES = {"a": Size(4, 128, 4, 32, 1024, 1e-4, 1)}
        """
    sweep = """\
        from metaseq.launcher.sweep import hyperparam
        def grid(args):
            return [hyperparam("--tokens-per-sample", 256), hyperparam("--checkpoint-activations")]
        """
    found = facts("sizes.py", sizes, ("sweep.py", sweep))
    assert [found[n] for n in ("layers", "seq_len", "recompute", "tokens")] == [4, 256, "full", 5_000_000_000]
