import nemo_run as run
def pretrain_recipe(num_nodes: int = 2, n=8):
    cfg = run.Partial(fn, num_nodes=num_nodes,
        devices=n, tensor_model_parallel_size=2)
    cfg.model.pipeline_model_parallel_size = 2
    cfg.train.global_batch_size = 4
    return cfg
