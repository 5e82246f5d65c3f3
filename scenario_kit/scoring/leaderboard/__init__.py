"""Ranking of solvers by their scores over the same incidents."""
