"""What etl, analysis and reports all stand on: the JSON Schemas, and tables with one small reader beside each."""
