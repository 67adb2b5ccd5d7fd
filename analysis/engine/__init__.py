"""Peak memory, step time and traffic of a table of layouts."""
