"""Rendered objects: finding, merging and reading them."""
