"""Solvers in an order: scores of each over the same incidents."""
