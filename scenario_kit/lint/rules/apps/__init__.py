"""Rules about apps, and about references to their objects."""
