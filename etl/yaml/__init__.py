"""Strict YAML: text to values with their places, and every syntax fault as a finding."""
