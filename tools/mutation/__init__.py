"""Mutants of the code that decides, and which tests kill them."""
