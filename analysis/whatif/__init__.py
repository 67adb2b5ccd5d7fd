"""Layouts that no report gives: one or a table of them, on the terminal or as CSV."""
