"""What is kept of a run: a journal of every message, the record that is scored, and forms of other tools."""
