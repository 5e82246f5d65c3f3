"""What changes do to rendered objects and to the requests of users, without a cluster."""
