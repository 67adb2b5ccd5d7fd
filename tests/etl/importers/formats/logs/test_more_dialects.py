"""Steps of DeepSpeed, llm.c, the Hugging Face trainer and Weights & Biases; medians leave the first steps out."""

import pytest

LLMC = "step {0}/100 | loss {1} (+nanz)| norm 1.0 (+nanz)| lr 1e-4 | {2} ms | 50.0% bf16 MFU | 4096 tok/s\n"


def test_llmc(facts):
    table = "| micro batch size B    | 4 |\n| sequence length T     | 256 |\n| num_processes         | 8 |\n"
    found = facts("a.log", table + "".join(LLMC.format(i, 9 - i, 900 if i == 1 else 250) for i in range(1, 5)))
    assert [found[n] for n in ("step_time_s", "loss", "train_steps", "micro_batch", "seq_len")] == [
        0.25,
        5.0,
        100,
        4,
        256,
    ]
    assert found["tokens_per_s_per_accelerator"] == 4096 / 8


def test_deepspeed_prints_memory_in_binary_gigabytes(facts):
    line = "[timer.py:1] epoch=0/micro_step={0}/global_step={0}, RunningAvgSamplesPerSec=1.0, CurrSamplesPerSec=2.0, "
    lines = [line.format(i) + "MemAllocated=10.0GB, MaxMemAllocated=42.5GB" for i in range(1, 5)]
    assert facts("a.log", "\n".join(lines))["memory_gib"] == 42.5


def test_the_last_loss_of_the_trainer(facts):
    lines = [f"{{'loss': {loss}, 'grad_norm': 1.0, 'learning_rate': 1e-05, 'epoch': 0.1}}" for loss in (3.5, 3.25)]
    assert facts("a.log", "\n".join(lines))["loss"] == 3.25


def test_a_table_of_weights_and_biases(reading):
    rows = "\n".join(f"{i},{4 - i / 10},{4},{500 if i else 90}" for i in range(4))
    header = "Step,run - train/loss,run - train/loss__MIN,run - perf/tflops_per_gpu\n"
    found = reading("export.csv", header + rows)
    assert (found.get("loss"), found.get("tflops_per_accelerator")) == (pytest.approx(3.7), 500.0)
    assert found.facts["tflops_per_accelerator"].key == "run - perf/tflops_per_gpu, median of 3 rows"
