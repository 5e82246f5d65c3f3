"""What the baselines make of the whole catalogue: records of their runs, and the page of them."""
