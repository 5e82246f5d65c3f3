"""The cluster with a real node: its isolation, processes, and what is installed into it."""
