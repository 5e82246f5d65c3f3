"""The control plane of a lab, and its initial objects."""
