"""The messages between the kit and a solver: JSON, one a line (docs/solve.md)."""
