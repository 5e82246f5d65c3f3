"""Verb *export*: incidents in the forms that other harnesses run, each with the gates that prove its scoring."""
