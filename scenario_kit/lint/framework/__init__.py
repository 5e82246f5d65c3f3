"""The framework of rules: registry, documentation, fixes and suppressions."""
