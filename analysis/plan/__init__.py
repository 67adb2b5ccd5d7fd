"""Every legal layout of a model on a number of accelerators, ranked."""
