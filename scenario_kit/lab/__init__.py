"""The embedded lab: a real control plane, and a simulated data plane behind it."""
