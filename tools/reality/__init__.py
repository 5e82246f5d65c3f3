"""Compares the simulated node with a real one."""
