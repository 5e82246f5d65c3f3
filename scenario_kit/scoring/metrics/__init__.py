"""Numbers of one run, from decisions and records alone."""
