"""Launch scripts, parsed and followed statically; nothing is run."""
