"""Hand an incident to a solver and take its answer (docs/solve.md)."""
