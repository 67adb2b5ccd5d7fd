"""Configs written in Python, read from their syntax tree; nothing is imported."""
