"""The types of Kubernetes objects and of Chaos Mesh experiments: their fields, and what each may hold."""
