"""Baseline solvers without a model: pure rankings of observations, and two references that check the scoring."""
