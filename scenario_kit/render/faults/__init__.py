"""Rendering of fault types for a target."""
