"""GPT-3 in MLPerf counts tokens where other benchmarks count samples."""

import json


def event(key: str, value: object, **metadata: object) -> str:
    return ":::MLLOG " + json.dumps({"key": key, "value": value, "metadata": metadata})


def test_tokens_are_turned_into_sequences(facts):
    steps, batch, length = 400, 256, 2048
    tokens = steps * batch * length
    lines = [
        event("submission_benchmark", "gpt3"), event("global_batch_size", batch), event("max_sequence_length", length),
        event("run_start", None), event("tracked_stats", {"throughput": 65_536.0}),
        event("run_stop", None, status="success"), event("train_samples", tokens),
    ]  # fmt: skip
    found = facts("result.txt", "\n".join(lines))
    assert (found["train_steps"], found["tokens"]) == (steps, tokens)
    assert found["step_time_s"] == batch * length / 65_536
