"""Estimates and confidence intervals over runs. Pure."""
