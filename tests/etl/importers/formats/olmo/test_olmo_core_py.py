"""OLMo-core: Python that builds a config; batches in tokens, ends that compete."""

RUN = """
    from olmo_core.train import Duration, TrainerConfig
    LENGTH = 1024
    DEFAULT_SEQUENCE_LENGTH = 1024

    def build_config(opts, overrides):
        length = opts.sequence_length or DEFAULT_SEQUENCE_LENGTH
        loader = NumpyDataLoaderConfig(global_batch_size=64 * 1024)
        module = TransformerTrainModuleConfig(
            rank_microbatch_size=2 * LENGTH,
            max_sequence_length=length,
            dp_config=TransformerDataParallelConfig(name=DataParallelType.hsdp, param_dtype=DType.bfloat16),
            float8_config=Float8Config(enabled=False),
        )
        if get_world_size() >= 1024:
            module.rank_microbatch_size //= 2
        trainer = TrainerConfig(max_duration=Duration.tokens(int(1e9))).with_callback("x", Other())
        return ExperimentConfig(loader, module, trainer).merge(overrides)
    """


def test_batches_in_tokens_become_sequences(facts):
    found = facts("a.py", RUN)
    assert (found["global_batch_tokens"], found["global_batch"], found["micro_batch"]) == (65536, 64, 2)


def test_a_length_the_caller_may_replace_is_a_default(reading):
    fact = reading("a.py", RUN).facts["seq_len"]
    assert (fact.value, fact.origin) == (1024, "default")


def test_a_branch_on_the_world_size_does_not_count(facts):
    assert facts("a.py", RUN)["micro_batch"] == 2


def test_hybrid_sharding_is_full_and_float8_that_is_off_is_not_fp8(facts):
    found = facts("a.py", RUN)
    assert (found["zero_stage"], found["precision"]) == (3, "bf16")
    assert facts("a.py", RUN.replace("enabled=False", "enabled=True"))["precision"] == "fp8"


def test_of_two_ends_the_earlier_is_reported(reading):
    ends = "max_duration=Duration.tokens(int(1e9)), hard_stop=Duration.steps(100)"
    found = reading("a.py", RUN.replace("max_duration=Duration.tokens(int(1e9))", ends))
    # 100 steps of 65536 tokens are fewer than 1e9
    assert (found.get("train_steps"), found.get("tokens")) == (100, 6_553_600)
    assert any(w.startswith("two-ends") for w in found.warnings)


def test_builders_share_the_length_of_the_module(facts):
    text = RUN.replace("2 * LENGTH", "4 * common.max_sequence_length").replace("opts, overrides", "common, overrides")
    assert facts("a.py", text)["micro_batch"] == 4


def test_recomputation_is_none_unless_configured(facts):
    assert facts("a.py", RUN)["recompute"] == "none"
    mode = "float8_config=Float8Config(enabled=False), ac_config=Config(Mode.full)"
    assert facts("a.py", RUN.replace("float8_config=Float8Config(enabled=False)", mode))["recompute"] == "full"
