"""Apps to Kubernetes objects."""
