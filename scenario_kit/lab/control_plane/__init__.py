"""The control plane of a lab, and what is set up in it."""
