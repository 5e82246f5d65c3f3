"""The validating admission webhook."""
