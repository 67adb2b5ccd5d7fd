"""The front door: one `shardbook` command made of the command groups of `etl`, `analysis` and `reports`."""

from etl.commands.records import app


def main() -> None:
    """Run the command line."""
    app()
