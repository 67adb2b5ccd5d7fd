"""Charts: each is a function from a frame to one Altair expression. Titles and units come from the dictionary."""
