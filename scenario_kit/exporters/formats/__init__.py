"""One module for each form: pure functions from an incident to files."""
