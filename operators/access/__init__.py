"""The operator's rights in the namespaces that it makes."""
