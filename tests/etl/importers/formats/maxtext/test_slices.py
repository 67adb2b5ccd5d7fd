"""Slices of TPUs that a launcher asks for, and what a script that is only made executable is not."""


def test_chips_times_slices_of_xpk(facts):
    found = facts(
        "run.sh",
        """\
        xpk workload create --tpu-type=v5p-128 --num-slices=3 \\
          --command="python3 -m MaxText.train base.yml steps=5 max_target_length=256 per_device_batch_size=2 run_name=a"
        """,
    )
    assert (found["accelerators"], found["train_steps"]) == (3 * 128 // 2, 5)  # v5p names count cores, two a chip
    assert found["global_batch"] == 2 * 192


def test_a_script_made_executable_is_not_called_by_that(facts):
    inner = "python3 -m MaxText.train base.yml run_name=a steps=${1:-9} max_target_length=64\n"
    script = "# MaxText base.yml run_name\nchmod +x ./inner.sh\n./inner.sh 4\n"
    assert facts("outer.sh", script, ("inner.sh", inner))["train_steps"] == 4
