"""Mutation testing of the decision logic."""
