"""Rules about what gives the answer away."""
