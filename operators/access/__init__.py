"""Access of the operator to the cluster: its rights, and the objects of trials."""
