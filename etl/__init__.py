"""Records in, database out: strict YAML, checks, DuckDB, exports, importers. Imports no `analysis` and no `reports`."""
