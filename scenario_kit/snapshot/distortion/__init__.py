"""Realistic telemetry defects: declared, drawn from the seed, and verified to raise no alert by themselves."""
