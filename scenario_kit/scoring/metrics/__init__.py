"""Metrics of one run, computed from decisions and records only."""
