"""The call tree of each operation, with routes and spans."""
