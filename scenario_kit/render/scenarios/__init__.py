"""Rendering of scenarios: runbook, noise, preview, version key and time windows."""
