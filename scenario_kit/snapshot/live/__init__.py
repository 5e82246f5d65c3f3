"""Recording an app over the API of its cluster, where no lab records it (docs/snapshot.md)."""
