"""Splitting a catalogue: a public set with its truths, and a held-out set published as hash and brief only."""
