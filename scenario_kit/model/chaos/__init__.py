"""Chaos Mesh: kinds, fields, selectors, effects."""
