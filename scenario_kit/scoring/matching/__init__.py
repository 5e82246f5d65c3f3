"""Which object of the truth an answer means: deterministic, and every decision is kept with its reason."""
