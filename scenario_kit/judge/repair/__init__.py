"""Repairs: when an incident is over, and what a repair leaves in place."""
