"""One module per export format: pure functions from incidents to files."""
