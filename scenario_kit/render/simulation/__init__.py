"""Simulation of changes on rendered objects and on user requests, without a cluster."""
