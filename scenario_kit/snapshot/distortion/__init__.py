"""Telemetry that is as faulty as real one: declared, drawn from the seed, and proven to raise no alert by itself."""
