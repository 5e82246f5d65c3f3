"""Drafts of every fault type, run through an author's workflow."""
