"""Kills the operator and disturbs the API server at every write of a trial."""
