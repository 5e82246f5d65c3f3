"""What goes out of a catalogue: its public and held-out sets, and the static site."""
