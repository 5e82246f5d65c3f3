"""Plans: the trials of a validation, their number and order."""
