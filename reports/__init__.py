"""The offline report: reads the built database, writes pages. Imports neither `etl` nor `analysis`."""
