"""Solvers without a model: pure functions over what a solver may read, and two that check the scoring."""
