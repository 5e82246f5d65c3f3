"""What many runs add up to, with how sure that is. Pure."""
