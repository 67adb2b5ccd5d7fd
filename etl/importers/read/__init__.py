"""Files of unknown origin as trees with line numbers: JSON, YAML, TOML, and references between their values."""
