"""What a command says instead of a traceback when it cannot do what was asked."""


class RefusalError(Exception):
    """One plain sentence for the reader: where, what, what was found, one way out.

    >>> str(RefusalError("build/shardbook.duckdb does not exist; run `shardbook build`."))
    'build/shardbook.duckdb does not exist; run `shardbook build`.'
    """
