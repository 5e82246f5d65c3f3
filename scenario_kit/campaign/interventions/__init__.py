"""Interventions: trials of labels, repairs, decoys and cheats."""
