"""Judges fields of Kubernetes objects and of patches by the types that the API server has for them."""
