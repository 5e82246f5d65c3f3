"""One operator acts at a time: leader election with a Lease, as the controllers of Kubernetes do it."""
