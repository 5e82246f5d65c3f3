"""Defects in files: documents, objects and suppressions; lint must catch them."""
