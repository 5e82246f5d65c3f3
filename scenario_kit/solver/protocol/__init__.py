"""The messages between the kit and a solver: one JSON object per line (docs/solve.md)."""
