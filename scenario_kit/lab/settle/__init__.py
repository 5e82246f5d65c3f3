"""Waiting until the cluster has nothing more to do at an instant of virtual time."""
