"""One folder for each framework; a folder's FORMATS says which of its modules read what."""
