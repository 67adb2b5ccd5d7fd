"""The chapters of the narrative page, in the order of the story."""
