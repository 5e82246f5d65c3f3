"""Splitting a catalogue: a public set with its truths, and a held-out set of which hash and brief are published."""
