"""Compare scenarios with each other."""
