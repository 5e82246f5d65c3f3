"""Waiting until the cluster has settled: its controllers have no work left at an instant of virtual time."""
