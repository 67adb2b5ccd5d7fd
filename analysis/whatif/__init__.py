"""Layouts that nobody reported: one or a table of them, on the terminal or as CSV."""
