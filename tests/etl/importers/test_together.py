"""Which files of a folder are one run, and what a what-if takes from them."""

from pathlib import Path

from etl.importers import read_files, together, whatif


def made(folder: Path, **files: str) -> str:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return str(folder)


def test_a_file_that_another_one_names_is_its_companion(tmp_path):
    folder = made(tmp_path, run_sh="source model.sh\n", model_sh="A=1\n", other_yaml="a: 1\n")
    found = [[Path(path).name for path in run] for run in together.runs(folder)]
    assert found == [["other.yaml"], ["run.sh", "model.sh"]]


def test_a_name_with_a_default_in_it_counts(tmp_path):
    folder = made(tmp_path, run_yaml="model: ${MODEL:base}.yaml\n", base_yaml="a: 1\n")
    assert [[Path(path).name for path in run] for run in together.runs(folder)] == [["run.yaml", "base.yaml"]]


def test_files_that_name_each_other_are_one_run(tmp_path):
    folder = made(tmp_path, a_sh="# b.sh\n", b_sh="# a.sh\n")
    assert [[Path(path).name for path in run] for run in together.runs(folder)] == [["a.sh", "b.sh"]]


def test_a_run_of_two_files_gives_its_layout(tmp_path):
    folder = made(
        tmp_path,
        run_sh="source model.sh\ntorchrun --nnodes=2 --nproc_per_node=8 pretrain_gpt.py $ARGS"
        " --tensor-model-parallel-size 4 --seq-length 64 --global-batch-size 8\n",
        model_sh='ARGS="--num-layers 4 --hidden-size 64 --num-attention-heads 4"\n',
    )
    (run,) = together.runs(folder)
    reading = read_files(run)
    assert whatif.layout(reading) | {"tp": 4} == whatif.layout(reading)
    assert whatif.layout(reading)["dp"] == 16 // 4
    assert whatif.model(reading)["layers"] == 4
