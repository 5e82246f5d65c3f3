"""Run records: actions of a solver, times and cost."""
