"""All metrics of one run, and what the runs of many incidents add up to."""
