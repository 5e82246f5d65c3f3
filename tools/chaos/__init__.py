"""Schemas and protocols extracted from an installed Chaos Mesh."""
