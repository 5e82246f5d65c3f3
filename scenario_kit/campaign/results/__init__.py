"""Results of a campaign."""
