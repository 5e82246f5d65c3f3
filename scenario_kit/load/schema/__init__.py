"""Validate documents by their schemas, and suggest corrections."""
