"""What chance and the wall clock put into an observation, replaced alike in every file (docs/snapshot.md)."""
