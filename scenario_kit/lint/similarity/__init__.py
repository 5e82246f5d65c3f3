"""What scenarios are compared by."""
