"""A language server that is asked as editors ask it."""
