"""All metrics of a run, and aggregates over runs and incidents."""
