"""Files that extend one another: the one that is named lies on top."""


def test_an_override_of_the_attention_says_so(reading):
    run = "modules:\n  a:\n    framework: megatron\n    model: m.yaml\n    overrides: {multi_latent_attention: false}\n"
    found = reading("run.yaml", run, ("m.yaml", "multi_latent_attention: true\nnum_layers: 4\n"))
    assert found.warnings[0].startswith("override-changes-model")


def test_what_a_file_extends_lies_beneath_it(facts):
    run = "modules:\n  pre_trainer:\n    framework: megatron\n    model: top.yaml\n    overrides: {seq_length: 128}\n"
    top = ("top.yaml", "extends: [base.yaml]\nnum_layers: 7\n")
    base = ("base.yaml", "num_layers: 3\nhidden_size: 96\nnum_attention_heads: 4\n")
    for beside in ((top, base), (base, top)):
        assert facts("run.yaml", run, *beside)["layers"] == 7
