"""Interventions: which trials try labels, repairs, decoys and cheats."""
