"""A cluster on this machine with a real node, an app of real containers and the operator's image."""
