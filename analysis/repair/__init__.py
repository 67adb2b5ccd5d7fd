"""The smallest changes of printed values that make a report's equations hold."""
