"""Rules about solutions, decoys and fixes."""
