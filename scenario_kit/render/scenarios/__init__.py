"""Scenarios, rendered: runbook, noise, preview, version, windows."""
