"""The commands that hand incidents to other harnesses: export, gates."""
