"""Commands that score and rank answers."""
