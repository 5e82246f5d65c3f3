"""Deterministic matching of answers with the ground truth; every decision is recorded with its reason."""
