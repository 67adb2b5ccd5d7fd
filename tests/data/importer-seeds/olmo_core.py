from olmo_core.train import Duration
N = 8 * 16
def build(opts):
    n = opts.n or N
    a = TrainModuleConfig(rank_microbatch_size=2 * N, max_sequence_length=n, dp_config=C(name=T.hsdp))
    return TrainerConfig(global_batch_size=N, max_duration=Duration.tokens(int(1e9)), hard_stop=Duration.steps(5))
