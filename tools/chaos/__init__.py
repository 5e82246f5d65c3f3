"""What is taken from an installed Chaos Mesh and committed."""
