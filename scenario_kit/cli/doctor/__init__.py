"""What is missing on this machine or in a cluster."""
