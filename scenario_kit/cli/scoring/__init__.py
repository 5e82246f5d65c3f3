"""``score``: what answers are worth."""
