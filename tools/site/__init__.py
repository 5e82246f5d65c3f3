"""The site of this repository: the catalogue with the runs of the baselines."""
