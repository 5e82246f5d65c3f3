"""Possible values of the fields of Kubernetes objects: of any valid object, and of those of the healthy app."""
