"""The model zoo's YAML with the script that fills it in."""

ZOO = """\
    MODEL_ARGS:
      --num-layers: 10
      --hidden-size: 512
      --num-attention-heads: 8
      --seq-length: ${LENGTH}
      --tensor-model-parallel-size: ${TP}
    """


def test_variables_before_the_first_call_and_its_flags_fill_the_file(reading):
    script = "LENGTH=1024\nTP=4 bash go.sh --recompute-granularity full\nTP=1 LENGTH=99 bash go.sh\n"
    found = reading("zoo.yaml", ZOO, ("run.sh", script))
    assert [found.get(n) for n in ("tp", "seq_len", "recompute")] == [4, 1024, "full"]
    assert found.warnings[0].startswith("several-runs")
