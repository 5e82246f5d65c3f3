"""Informers: in-memory copies of API server objects."""
