"""Measurements of performance: one module for each subject."""
