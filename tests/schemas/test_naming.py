"""Names that a person types."""

import pytest

from schemas.naming import matching, resolve
from schemas.refusal import RefusalError

PARTS = {
    "nvidia/h100-sxm-80gb": ["H100 SXM5 80 GB"], "nvidia/h100-pcie-80gb": ["H100 PCIe 80 GB"],
    "nvidia/h800-sxm-80gb": [], "nvidia/gh200-96gb": [],
}  # fmt: skip
MODELS = {
    "meta/llama-2-70b": ["Llama 2 70B", "Meta"], "meta/llama-3.1-70b": ["Llama 3.1 70B", "Meta"],
    "alibaba/qwen3-235b-a22b": ["Qwen3-235B-A22B", "Alibaba"], "deepseek/deepseek-v3": ["DeepSeek-V3"],
    "deepseek/deepseek-v3.2": ["DeepSeek-V3.2"], "zhipu/glm-5": ["GLM-5", "Zhipu AI"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("words", "known", "meant"),
    [
        ("h800", PARTS, "nvidia/h800-sxm-80gb"),
        ("H100 PCIe", PARTS, "nvidia/h100-pcie-80gb"),
        ("qwen3-235b", MODELS, "alibaba/qwen3-235b-a22b"),
        ("deepseek v3", MODELS, "deepseek/deepseek-v3"),
        ("DeepSeek-V3.2", MODELS, "deepseek/deepseek-v3.2"),
        ("llama 3.1", MODELS, "meta/llama-3.1-70b"),
        ("zhipu", MODELS, "zhipu/glm-5"),
    ],
)
def test_words_that_one_record_fits_mean_it(words, known, meant):
    assert resolve(words, known, "record") == meant


def test_words_that_several_fit_list_them():
    with pytest.raises(RefusalError, match=r"'h100' fits 2 records; choose one of nvidia/h100"):
        resolve("h100", PARTS, "accelerator")
    with pytest.raises(RefusalError, match=r"meta/llama-2-70b, meta/llama-3\.1-70b"):
        resolve("llama-70b", MODELS, "model")


def test_a_typing_error_gets_the_nearest_name():
    with pytest.raises(RefusalError, match="there is no model 'llma-2-70b'; did you mean meta/llama-2-70b"):
        resolve("llma-2-70b", MODELS, "model")
    with pytest.raises(RefusalError, match="shardbook list models"):
        resolve("§", MODELS, "model")


def test_no_words_fit_everything():
    assert matching("", PARTS) == list(PARTS)


def test_a_single_letter_is_no_part_of_a_word():
    with pytest.raises(RefusalError, match="there is no accelerator 'nvidia/x'"):
        resolve("nvidia/x", PARTS, "accelerator")
