M = 1024
MODEL_SIZES = {"a": Size(4, 64, 4, 16, int(0.5 * M), 1e-4, 2)}
