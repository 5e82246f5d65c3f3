"""Drafts of every fault, from the first question to a verdict."""
