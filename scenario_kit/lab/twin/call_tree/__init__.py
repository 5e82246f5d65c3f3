"""The call tree of each operation, its routes and spans."""
