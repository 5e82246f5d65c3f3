"""Metrics that use a graph: the topology, or the propagation of the ground truth."""
