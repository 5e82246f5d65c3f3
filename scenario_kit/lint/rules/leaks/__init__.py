"""Rules about texts that give the answer away."""
