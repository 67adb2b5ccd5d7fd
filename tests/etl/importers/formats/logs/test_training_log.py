"""Logs: a steady value per measure, the plan of the run, and nothing else."""

import pytest

MEGATRON = (
    "[default3]: iteration {step:>8}/   20000 | consumed samples: {samples} | elapsed time per iteration (ms): {ms} | "
    "global batch size:   512 | lm loss: 1.0E+01 |"
)
TITAN = (
    "[titan] INFO - step: {step}  loss:  9.2  grad_norm:  2.1  memory: 60.14GiB(76.02%)  tps: 6,00{step}  "
    "tflops: 29{step}.0  mfu: 29.6%"
)
MAXTEXT = (
    "completed step: {step}, seconds: {s}, TFLOP/s/device: 135.1, Tokens/s/device: 8687.8, total_weights: 196608, "
    "loss: 11.6"
)
NANOTRON = (
    "[INFO|DP=0]: iteration: {step} / 30 | consumed_tokens: 1.05M | elapsed_time_per_iteration_ms: 4.71K | "
    "tokens_per_sec: 223K | tokens_per_sec_per_gpu: 27.9K | global_batch_size: 512 | model_tflops_per_gpu: 139 | "
    "hardware_tflops_per_gpu: 150"
)
PRIMUS = (
    "iteration {step}/ 20 | elapsed time per iteration (ms): 654.5/735.1 | compute per GPU (TFLOP/s/GPU): 615.5 "
    "(avg 600.1) | tokens/s/GPU inst/harmonic mean: 9640.7/9629.8 | global batch size: 16 |"
)


def megatron(times: list[float]) -> str:
    return "\n".join(MEGATRON.format(step=i, samples=512 * i, ms=ms) for i, ms in enumerate(times, 1))


def test_a_slow_first_step_is_not_the_step_time(facts):
    assert facts("a.log", megatron([48211.3, 8019.8, 8012.4, 8010.9]))["step_time_s"] == pytest.approx(8.0124)


def test_the_plan_is_the_last_iteration_and_not_the_last_line(facts):
    found = facts("a.log", megatron([9.0, 8.0, 8.0]))
    assert (found["train_steps"], found["global_batch"]) == (20000, 512)


def test_a_line_cut_in_the_middle_of_a_number_is_left_out(facts):
    cut = megatron([9000.0, 8000.0, 8000.0]) + "\niteration 4/ 20000 | elapsed time per iteration (ms): 80"
    assert facts("a.log", cut)["step_time_s"] == pytest.approx(8.0)


def test_a_batch_that_grows_is_no_batch(facts):
    text = megatron([9.0, 8.0]) + "\n" + megatron([8.0]).replace("size:   512", "size:  1024")
    assert "global_batch" not in facts("a.log", text)


def test_length_is_consumed_tokens_over_consumed_samples(facts):
    line = megatron([8.0]).replace("| elapsed", "| consumed tokens: 1048576 | elapsed")  # 512 samples
    assert facts("a.log", line)["seq_len"] == 2048


def test_seconds_and_milliseconds_are_told_apart(facts):
    text = megatron([105.22, 105.22, 105.22]).replace("(ms)", "(s)")
    assert facts("a.log", text)["step_time_s"] == pytest.approx(105.22)


def test_torchtitan_writes_commas_and_counts_per_device(facts):
    found = facts("a.log", "\n".join(TITAN.format(step=i) for i in (1, 2, 3)))
    assert (found["tokens_per_s_per_accelerator"], found["memory_gib"]) == (6002.5, 60.14)


def test_maxtext_compiles_in_step_0_and_step_1_is_impossibly_fast(facts):
    text = "\n".join(MAXTEXT.format(step=i, s=s) for i, s in enumerate([44.9, 0.3, 5.6, 5.7, 5.6]))
    assert facts("a.md", text)["step_time_s"] == pytest.approx(5.65)


def test_maxtext_steps_that_start_again_are_another_run(reading):
    first = [MAXTEXT.format(step=i, s=s) for i, s in enumerate([44.9, 0.3, 5.6, 5.6])]
    found = reading("a.md", "\n".join([*first, MAXTEXT.format(step=2, s=99.0)]))
    assert found.get("step_time_s") == pytest.approx(5.6)
    assert found.warnings[0].startswith("several-runs")


def test_devices_times_batch_per_device_is_the_global_batch_of_maxtext(facts):
    head = (
        "Config param per_device_batch_size: 24.0\nNum_devices: 4, shape (1, 4)\nConfig param max_target_length: 2048\n"
    )
    found = facts("a.md", head + "\n".join(MAXTEXT.format(step=i, s=5.6) for i in range(4)))
    assert (found["global_batch"], found["global_batch_tokens"]) == (96, 96 * 2048)


def test_nanotron_shortens_its_numbers(facts):
    found = facts("a.log", "\n".join(NANOTRON.format(step=i) for i in range(1, 5)))
    assert (found["step_time_s"], found["tokens_per_s_per_accelerator"], found["global_batch"]) == (4.71, 27900.0, 512)


def test_primus_prints_this_step_before_the_mean(facts):
    found = facts("a.log", "\n".join(PRIMUS.format(step=i) for i in range(1, 5)))
    assert (found["tokens_per_s_per_accelerator"], found["tflops_per_accelerator"]) == (9640.7, 615.5)


def test_a_dump_of_arguments_gives_the_layout(facts):
    values = {"num_layers": 80, "hidden_size": 64, "num_attention_heads": 8, "seq_length": 128, "world_size": 16,
              "bf16": True, "tensor_model_parallel_size": 2, "pipeline_model_parallel_size": 4, "micro_batch_size": 1,
              "group_query_attention": False, "num_query_groups": 1,
              "untie_embeddings_and_output_weights": True}  # fmt: skip
    dump = "\n".join(f"  {name} {'.' * (40 - len(name))} {value}" for name, value in values.items())
    filler = "\n".join(f"  filler_{i} ......................... None" for i in range(20))
    found = facts("a.log", f"{dump}\n{filler}\n{megatron([8.0, 8.0])}")
    assert (found["tp"], found["dp"], found["kv_heads"], found["tied_embeddings"]) == (2, 2, 8, False)


def test_a_dump_prints_values_of_what_is_off_and_they_are_no_facts(facts):
    names = ["num_layers 8", "hidden_size 64", "num_attention_heads 8", "kv_lora_rank 32", "hybrid_attention_ratio 0.0"]
    names += ["multi_latent_attention False", "num_experts None", "moe_router_topk 2", "ffn_hidden_size 200"]
    names += [f"filler_{i} None" for i in range(20)]
    dump = "\n".join(f"[default0]:  {n.split()[0]} {'.' * 20} {n.split()[1]}" for n in names)
    found = facts("a.log", f"{dump}\n{megatron([8.0, 8.0])}")
    assert (found["head_dim"], found["ffn_hidden"], "experts_per_token" in found) == (8, 200, False)


def mllog(key: str, value: str, metadata: str = "{}") -> str:
    event = f'"time_ms": 1, "event_type": "POINT_IN_TIME", "key": "{key}", "value": {value}, "metadata": {metadata}'
    return f":::MLLOG {{{event}}}"


MLPERF = [
    mllog("global_batch_size", "32"), mllog("max_sequence_length", "8192"), mllog("max_steps", "1200000"),
    mllog("train_samples", "1574207408"), mllog("run_start", "null"),
    *(mllog("tracked_stats", '{"throughput": 16.0}', '{"step": 64}') for _ in range(3)),
    mllog("run_stop", "null", '{"samples_count": 640, "status": "success"}'),
]  # fmt: skip


def test_mlperf_reports_what_was_done_and_not_the_cap_or_the_data_set(facts):
    found = facts("result_0.txt", "\n".join(MLPERF))
    assert (found["train_steps"], found["tokens"]) == (640 // 32, 640 * 8192)


def test_mlperf_throughput_is_samples_per_second(facts):
    assert facts("result_0.txt", "\n".join(MLPERF))["step_time_s"] == 32 / 16.0


def test_a_step_in_the_metadata_that_may_count_samples_is_no_step_count(facts):
    stop = mllog("run_stop", "null", '{"step": 640}')
    assert "train_steps" not in facts("result_0.txt", "\n".join([*MLPERF[:-1], stop]))
