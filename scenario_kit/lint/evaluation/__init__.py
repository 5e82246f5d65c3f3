"""Applying the rules to files."""
