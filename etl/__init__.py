"""Records in, database out: strict YAML, checks, DuckDB, exports, importers. Imports neither `analysis` nor `reports`."""
