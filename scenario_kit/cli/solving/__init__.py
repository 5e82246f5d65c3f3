"""``solve``: an incident, a solver, a score."""
