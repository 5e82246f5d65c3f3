"""Plans: which trials a validation consists of, how many, and in which order."""
