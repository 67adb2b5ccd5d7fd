"""Pure formulas on scalars or arrays in base units (B, B/s, FLOP, FLOP/s, s), one module per subject. Needs numpy and nothing else."""
