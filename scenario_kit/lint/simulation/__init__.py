"""What changes make of rendered objects."""
