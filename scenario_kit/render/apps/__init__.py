"""Rendering of apps."""
