"""Leader election with a Lease, as in Kubernetes controllers: one operator acts at a time."""
