"""Compare alert histories with expectations."""
