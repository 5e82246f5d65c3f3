"""Scored values: entity names, ground truths and answers."""
