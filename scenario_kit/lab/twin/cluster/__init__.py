"""What the twin sees of a cluster: objects, configuration, names and policies."""
