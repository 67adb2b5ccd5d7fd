"""What the analysis reads of the database: facts of runs and phases, models, accelerators, measured rows."""
