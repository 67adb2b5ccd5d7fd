"""Records: the schemas that describe them, loading, canonical form."""
