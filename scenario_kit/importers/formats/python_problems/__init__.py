"""Problem classes in Python, which are read but never executed."""
