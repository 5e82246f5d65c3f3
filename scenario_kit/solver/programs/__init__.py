"""Solvers as programs: isolated processes that exchange one message per line."""
