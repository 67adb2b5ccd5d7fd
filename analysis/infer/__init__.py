"""What a run that disclosed only part of its layout can have been: the layouts consistent with memory and speed."""
