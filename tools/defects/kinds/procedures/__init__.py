"""Solutions and decoys that do not do what they promise."""
