"""The front door: one `shardbook` command made of the command groups of `etl`, `analysis` and `reports`."""


def main() -> None:
    """Run the command line."""
    raise SystemExit("shardbook: being set up")
