"""The embedded lab: a real control plane with a simulated data plane."""
