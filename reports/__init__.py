"""Reads the built database and draws it: one offline narrative page, one page per run, one table of all runs."""
