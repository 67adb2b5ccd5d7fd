"""Files that extend one another: the one that is named lies on top."""


def test_what_a_file_extends_lies_beneath_it(facts):
    run = "modules:\n  pre_trainer:\n    framework: megatron\n    model: top.yaml\n    overrides: {seq_length: 128}\n"
    top = ("top.yaml", "extends: [base.yaml]\nnum_layers: 7\n")
    base = ("base.yaml", "num_layers: 3\nhidden_size: 96\nnum_attention_heads: 4\n")
    for beside in ((top, base), (base, top)):
        assert facts("run.yaml", run, *beside)["layers"] == 7
