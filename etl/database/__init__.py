"""Records to one DuckDB file with its dictionary inside, and read-only queries of it."""
