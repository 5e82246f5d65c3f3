"""A catalogue in two sets: one is public with its truth, of the other a hash, a brief and nothing else go out."""
