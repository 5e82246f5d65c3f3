"""Consistent replacement of random and wall-clock values in all files of a snapshot (docs/snapshot.md)."""
