"""Statistics over all runs and the claims that are tested with them."""
