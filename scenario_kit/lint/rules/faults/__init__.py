"""Rules about what faults change."""
