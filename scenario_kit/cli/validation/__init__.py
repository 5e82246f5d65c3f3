"""Commands that run trials and report on them."""
