"""What the trials of a campaign show together."""
