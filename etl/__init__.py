"""Records in, database out: strict YAML, checks, DuckDB, exports and importers. Imports neither `analysis` nor `reports`."""
