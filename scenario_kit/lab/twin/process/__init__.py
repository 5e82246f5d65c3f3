"""Processes: their configuration, their state, their logs."""
