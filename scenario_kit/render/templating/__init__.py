"""Rendering of untrusted templates: sandbox, budget and errors."""
