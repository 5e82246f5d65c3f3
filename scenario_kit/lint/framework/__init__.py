"""What a rule is: its register, its page, its corrections and suppressions."""
