"""The records of a run: the journal of its messages, the run record for scoring, and the ATIF trajectory."""
