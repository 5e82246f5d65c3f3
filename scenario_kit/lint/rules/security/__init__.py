"""Rules about what a fault may do to a cluster."""
