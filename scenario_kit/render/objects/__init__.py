"""Look-ups, merging and inspection of rendered objects."""
