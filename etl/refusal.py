"""What a command says instead of a traceback when it can't do what was asked."""


class RefusalError(Exception):
    """One plain sentence for the reader: what, where, what was found, one way out.

    >>> str(RefusalError("build/shardbook.duckdb does not exist; run `shardbook build`."))
    'build/shardbook.duckdb does not exist; run `shardbook build`.'
    """
