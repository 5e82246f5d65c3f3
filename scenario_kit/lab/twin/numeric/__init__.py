"""Arrays, batches and random streams: the arithmetic of a tick."""
