"""What a run has come to: stages, turns, budgets. Pure."""
