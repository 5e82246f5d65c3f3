"""One module for each public format: documents and code, as drafts and decisions."""
