"""Templates of strangers: a sandbox, its budget, its errors."""
