"""Edits of scenarios that several kinds of defects share."""
