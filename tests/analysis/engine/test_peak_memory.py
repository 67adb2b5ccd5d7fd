"""Peak memory of rows: totals by hand, the fullest stage, brackets, unknown rows, tables as their rows."""

from typing import Any

import numpy as np
import pytest

from analysis.engine import peak_memory
from analysis.engine.peak_memory import PeakMemory, predict_memory

from ..rows import CONSTANTS, read

GIB = 2.0**30
MIXTRAL = {"experts": 8, "experts_per_token": 2, "moe_ffn_hidden": 14336, "ep": 8, "vocab": 32000}
LLAMA_405B = {
    "layers": 126, "hidden": 16384, "ffn_hidden": 53248, "heads": 128, "accelerators": 16384, "tp": 8, "pp": 16,
    "dp": 128, "sequence_parallel": True, "global_batch": 2048,
}  # fmt: skip


def predicted(*changes: dict[str, Any]) -> PeakMemory:
    """Peak memory of changed rows."""
    return predict_memory(read(*changes), CONSTANTS)


def test_a_llama_8b_row_by_hand() -> None:
    h, f, a, g, d, vocab, tokens = 4096, 14336, 32, 8, 128, 128256, 8192
    parameters = 8_030_261_248  # huggingface.co/meta-llama/Llama-3.1-8B
    states = parameters * (2 + 4 + 12 / 8)
    layer = 8 * h + 2 * (a + 2 * g) * d + 2 * a * d + 4 * a + 6 * f
    expected = states + tokens * (32 * layer + 4 * h + 6 * vocab)
    assert float(predicted().best[0]) == pytest.approx(expected, rel=1e-12)


def test_parts_add_up_to_the_best_estimate() -> None:
    found = predicted({}, {"zero_stage": 3}, {"precision": "fp16", "stack": "megatron-deepspeed"}, LLAMA_405B, MIXTRAL)
    assert sum(found.parts.values()).tolist() == pytest.approx(found.best.tolist())


def test_allocator_and_context_are_parts_of_their_own() -> None:
    found = predicted({"precision": "fp16", "stack": "megatron-deepspeed"})
    tensors = sum(v for n, v in found.parts.items() if n not in ("allocator", "context"))
    assert float(found.parts["context"][0]) == 3.5 * GIB
    assert float(found.parts["allocator"][0]) == pytest.approx(0.2 * float(tensors[0]))


def test_the_second_stage_is_fullest_when_the_first_is_lighter() -> None:
    assert predicted(LLAMA_405B, {}).stage.tolist() == [1, 0]


def test_the_stage_found_is_the_fullest_of_all() -> None:
    changes = [LLAMA_405B, LLAMA_405B | {"global_batch": 128}, {"pp": 8, "dp": 1, "global_batch": 8, "vocab": 10**6},
               MIXTRAL | {"pp": 4, "accelerators": 32, "dense_layers": 5, "global_batch": 64}]  # fmt: skip
    rows = read(*changes)
    found = predict_memory(rows, CONSTANTS)
    for row in range(len(rows)):
        totals = sum(peak_memory.by_stage(rows, CONSTANTS, row).values())
        assert float(found.best[row]) == pytest.approx(totals.max())
        assert int(found.stage[row]) == int(np.argmax(totals))


def test_a_stated_split_moves_the_peak() -> None:
    even = {"pp": 4, "dp": 2}
    found = predicted(even, even | {"layers_per_stage": "[2, 2, 2, 26]"})
    assert found.stage.tolist() == [0, 3]


def test_every_stage_of_a_stated_split_is_shown() -> None:
    rows = read({"pp": 4, "dp": 2, "layers_per_stage": "[5, 9, 9, 9]"})
    layers = peak_memory.by_stage(rows, CONSTANTS, 0)["activations"]
    assert len(layers) == 4
    assert layers[0] / (4 * 5) == pytest.approx(layers[1] / (3 * 9))


@pytest.mark.parametrize("field", ["recompute", "attention_kernel", "zero_stage"])
def test_an_open_field_is_bracketed_and_named(field: str) -> None:
    found, closed = predicted({field: ""}), predicted({})
    assert str(found.missing[0]) == f"{field} is not stated"
    assert found.lean[0] <= found.best[0] <= found.rich[0]
    assert (found.high - found.low)[0] / found.best[0] > (closed.high - closed.low)[0] / closed.best[0]


def test_open_sequence_parallelism_matters_only_with_tp() -> None:
    found = predicted({"sequence_parallel": ""}, {"sequence_parallel": "", "tp": 4, "dp": 2})
    assert found.missing.tolist() == ["", "sequence_parallel is not stated"]


def test_one_replica_needs_no_zero_stage() -> None:
    alone = {"accelerators": 1, "dp": 1, "global_batch": 8}
    found = predicted(alone | {"zero_stage": ""}, alone | {"zero_stage": 0})
    assert found.missing.tolist() == ["", ""]
    assert found.best[0] == found.best[1]


def test_a_bracket_spans_recompute_from_all_to_nothing() -> None:
    found, none, full = (predicted({"recompute": r}) for r in ("", "none", "full"))
    assert found.rich[0] == none.rich[0]
    assert found.lean[0] == full.lean[0]


def test_open_fields_are_read_as_the_step_time_reads_them() -> None:
    # nothing recomputed, the distributed optimizer, fused attention
    found, stated = predicted({"recompute": "", "zero_stage": "", "attention_kernel": ""}), predicted({})
    assert found.best[0] == stated.best[0]


@pytest.mark.parametrize(
    ("field", "lean", "rich"),
    [("zero_stage", 3, 0), ("attention_kernel", "flash", "unfused"), ("recompute", "full", "none")],
)
def test_each_end_of_a_bracket_is_the_row_with_that_choice(field: str, lean: object, rich: object) -> None:
    found = predicted({field: ""})
    assert found.lean[0] == predicted({field: lean}).lean[0]
    assert found.rich[0] == predicted({field: rich}).rich[0]


def test_a_pipeline_is_at_its_leanest_with_zero_1() -> None:
    found, one = (predicted({"pp": 4, "dp": 2, "zero_stage": z}) for z in ("", 1))
    assert found.lean[0] == one.lean[0]


def test_open_sequence_parallelism_spans_both_choices() -> None:
    base = {"tp": 4, "dp": 2}
    found, on, off = (predicted(base | {"sequence_parallel": s}) for s in ("", True, False))
    assert (found.lean[0], found.rich[0]) == (on.lean[0], off.rich[0])


def test_dense_first_layers_follow_a_stated_split() -> None:
    moe = MIXTRAL | {"pp": 4, "dp": 8, "accelerators": 32, "dense_layers": 3, "layers_per_stage": "[2, 10, 10, 10]"}
    parts = peak_memory.by_stage(read(moe), CONSTANTS, 0)
    dense, expert = 41_943_040 + 3 * 4096 * 14336 + 8192, 41_943_040 + 3 * 4096 * 14336 + 8 * 4096 + 8192
    assert parts["weights"][0] == 2 * (2 * dense + 32000 * 4096)
    assert parts["weights"][1] == 2 * (dense + 9 * expert)


def test_margins_lie_around_both_ends() -> None:
    found = predicted()
    assert found.low[0] == pytest.approx(0.9 * min(found.lean[0], found.best[0]))
    assert found.high[0] == pytest.approx(1.1 * max(found.rich[0], found.best[0]))


def ends(**change: object) -> tuple[float, float, float]:
    """Lean, best and rich in GiB."""
    found = predicted(dict(change))
    return float(found.lean[0]) / GIB, float(found.best[0]) / GIB, float(found.rich[0]) / GIB


def test_the_loss_of_a_fused_stack_is_open_between_in_place_and_plain() -> None:
    lean, best, rich = ends()
    per_byte = 8192 * 128256 / GIB
    assert best - lean == pytest.approx(4 * per_byte)
    assert rich - best == pytest.approx(4 * per_byte)


def test_a_stated_loss_closes_the_bracket() -> None:
    lean, best, rich = ends(loss="unfused")
    assert lean == best == rich


def test_unfused_stacks_are_not_open() -> None:
    lean, best, rich = ends(attention_kernel="unfused")
    assert lean == best == rich


def test_experts_may_be_trained_with_lean_or_full_optimizers() -> None:
    lean, best, rich = ends(**MIXTRAL, loss="unfused")
    experts, dense = 45_097_156_608 / 8, 1_605_636_096
    assert best == rich
    assert (best - lean) * GIB == pytest.approx(experts * (2 + 4) + dense * (2 + 4 / 8), rel=1e-6)


def test_stated_widths_close_the_bracket_of_experts() -> None:
    lean, best, rich = ends(**MIXTRAL, loss="unfused", gradient_dtype="fp32", moment_dtype="fp32")
    assert lean == best == rich


def test_eight_bit_weights_may_lie_beside_sixteen_bit_ones() -> None:
    lean, best, rich = ends(precision="FP8", loss="unfused")
    assert lean == best
    assert (rich - best) * GIB == pytest.approx(2 * 8_030_261_248)


def test_native_stacks_are_open_to_eager_norms_and_chunked_losses() -> None:
    lean, best, rich = ends(zero_stage=3, global_batch=8)
    assert lean < best < rich


def test_an_eager_norm_keeps_four_bytes_more_of_its_input() -> None:
    # Norms in PyTorch keep their input in FP32, and 32 layers have two norms more in one row than in the other; the
    # allocator of the test's constants reserves 5% beyond the tensors.
    native = {"zero_stage": 3, "global_batch": 8, "memory_kind": "reserved"}
    two, four = (ends(**native, norms_per_layer=count) for count in (2, 4))
    more = (four[2] - two[2]) - (four[1] - two[1])
    assert more * GIB == pytest.approx(1.05 * 4 * 8192 * 4096 * 2 * 32, rel=1e-9)


def test_bad_rows_are_unknown_and_keep_their_reason_and_place() -> None:
    found = predicted({}, {"tp": "x"}, {})
    assert np.isnan(found.best).tolist() == [False, True, False]
    assert all(np.isnan(getattr(found, name)[1]) for name in ("low", "high", "stage", "lean", "rich"))
    assert all(np.isnan(part[1]) for part in found.parts.values())
    assert "tp is not a number" in str(found.missing[1])


def test_a_table_is_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = [{}, {"zero_stage": 3}, LLAMA_405B, {"recompute": ""}, MIXTRAL, {"tp": "x"}]
    whole = predicted(*changes)
    monkeypatch.setattr(peak_memory, "CHUNK", 2)
    cut = predicted(*changes)
    single = [float(predicted(change).best[0]) for change in changes]
    assert cut.best.tolist() == pytest.approx(whole.best.tolist(), nan_ok=True)
    assert whole.best.tolist() == pytest.approx(single, nan_ok=True)


def test_no_rows_give_no_memory() -> None:
    empty = predict_memory(read({}).take(slice(0, 0)), CONSTANTS)
    assert len(empty.best) == 0


def test_rows_whose_pipeline_is_unknown_do_not_hide_the_stages_of_others() -> None:
    found = predicted(LLAMA_405B, {"pp": ""})
    assert int(found.stage[0]) == 1
