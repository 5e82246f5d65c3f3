"""Images and their processes."""
