MLP_RATIO = 8 / 3
JOB_NAME = "x"
model = dict(num_layers=4, hidden_size=64, num_attention_heads=4,
    mlp_ratio=MLP_RATIO, checkpoint=0.5)
data = dict(seq_len=8, micro_num=2, micro_bsz=1, total_steps=5)
parallel = dict(zero1=dict(size=-1), tensor=2, pipeline=dict(size=1))
