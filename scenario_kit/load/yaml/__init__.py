"""YAML documents with positions, and edits of them."""
