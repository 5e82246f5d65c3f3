"""Documents against their schemas: mistakes and their corrections."""
