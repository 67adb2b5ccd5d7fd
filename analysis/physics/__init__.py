"""Pure formulas on scalars or arrays in base units (B, B/s, FLOP, FLOP/s, s), one module a subject. Only numpy."""
