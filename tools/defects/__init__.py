"""Defects that are built into scenarios, each of a kind that the validator has to catch."""
