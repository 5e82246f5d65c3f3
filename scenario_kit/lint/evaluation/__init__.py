"""Apply the rules to files."""
