"""Kubernetes: quantities, durations, images, selectors, references."""
