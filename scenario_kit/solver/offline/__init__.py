"""Snapshots as the data source of a solver's tools, without a cluster (docs/solve.md)."""
