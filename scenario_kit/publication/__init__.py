"""Publishing a catalogue: its split into public and held-out scenarios, and the static site."""
