"""Faults that do not work, or not as they declare."""
