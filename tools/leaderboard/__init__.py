"""Results of the baselines on the whole catalogue, and their page."""
