"""Models and layouts as typed tables: columns, reading, words, refusals."""
