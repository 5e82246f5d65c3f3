"""Scores of answers: pure functions over truth, answer and topology (docs/scoring.md). Only ``files`` reads files."""
