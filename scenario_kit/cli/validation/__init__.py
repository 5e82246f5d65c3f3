"""The commands that run trials and report on them."""
