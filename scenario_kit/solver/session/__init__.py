"""The state of a run: stages, turns and budgets. Pure."""
