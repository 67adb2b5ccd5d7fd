"""Recomputes every run of a database and writes the result tables."""
