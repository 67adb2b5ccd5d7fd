"""What a contributor runs: drafts, differences, comparison with other tables."""
