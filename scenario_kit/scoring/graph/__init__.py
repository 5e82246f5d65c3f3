"""Numbers that need to know how entities hang together: a topology, or the propagation of the truth."""
