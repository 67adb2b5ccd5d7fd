"""What the records imply: physics, predictions, verdicts, trends.

Reads tables, never YAML; imports neither `etl` nor `reports`.
"""
