"""Verb *export*: incidents as tasks of other benchmark harnesses, with gates that verify the scoring of each."""
