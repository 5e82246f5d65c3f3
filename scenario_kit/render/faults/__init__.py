"""Faults of the catalogue, rendered for a target."""
