"""The twin's view of a cluster: objects, configuration, names and policies."""
