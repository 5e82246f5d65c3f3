"""Recording of an app through the API of its cluster, without a lab server (docs/snapshot.md)."""
