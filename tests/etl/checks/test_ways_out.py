"""Following each way out ends in a clean record, or in a question that only the source answers."""

import shutil
from pathlib import Path

import pytest

from .test_runner import VALID, findings

RUN = "runs/acme/alpha.yaml"
TEXT = (VALID / RUN).read_text("utf-8")


def tips(tmp_path: Path, text: str) -> list[str]:
    data = tmp_path / "data"
    shutil.rmtree(data, ignore_errors=True)
    shutil.copytree(VALID, data)
    (data / RUN).write_text(text)
    return [finding.tip for finding in findings(data)]


@pytest.mark.parametrize(
    ("right", "field", "wrong", "written"),
    [
        ("mfu: 0.4,", "mfu", "41", "0.41"),
        ("mfu: 0.4,", "mfu", "41%", "0.41"),
        ("started: 2024-03", "started", "2024-03-01 00:00:00", "2024-03-01"),
        ("started: 2024-03", "started", "Mar 5th 2024", "2024-03-05"),
        ("precision: bf16", "precision", "bfloat16", "bf16"),
        ("recompute: none", "recompute", "no", "none"),
        ("seq_len: 8192", "seq_len", "8_192", "8192"),
    ],
)
def test_a_way_out_that_writes_a_value_leads_to_a_clean_record(
    tmp_path: Path, right: str, field: str, wrong: str, written: str
) -> None:
    comma = "," if right.endswith(",") else ""
    first = tips(tmp_path, TEXT.replace(right, f"{field}: {wrong}{comma}", 1))
    assert len(first) == 1
    assert written in first[0]
    assert tips(tmp_path, TEXT.replace(right, f"{field}: {written}{comma}", 1)) == []


@pytest.mark.parametrize(
    ("right", "wrong", "question"),
    [
        # Above the peak by a hair or by far: no power of ten mends it.
        ("mfu: 0.4,", "mfu: 104,", "look which peak"),
        ("mfu: 0.4,", "mfu: 1.04,", "look which peak"),
        ("mfu: 0.4,", "mfu: 5.63,", "look which peak"),
        ("accelerator: acme/chip", "accelerator: CHIP", "shardbook list chip"),
        ("accelerator: acme/chip", "accelerator: chip", "shardbook list chip"),
        ("tflops_per_accelerator: 400", "tflops: 400", "did you mean 'tflops_per_accelerator'"),
        ("seq_len: 8192", "seq_len: 8k", "write 8000 or 8192"),
        ("started: 2024-03", "started: 3/2024", "as YYYY-MM-DD"),
    ],
)
def test_what_only_the_source_can_tell_is_asked(tmp_path: Path, right: str, wrong: str, question: str) -> None:
    found = tips(tmp_path, TEXT.replace(right, wrong, 1))
    assert any(question in tip for tip in found), found
