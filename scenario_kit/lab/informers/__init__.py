"""Objects of the API server in memory, kept up to date."""
