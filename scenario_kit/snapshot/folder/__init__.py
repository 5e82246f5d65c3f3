"""The folder as a whole: its manifest, how it comes to be at once, and whether it says too much."""
