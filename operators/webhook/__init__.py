"""The validating webhook: what the API server is told about an object before it stores it."""
