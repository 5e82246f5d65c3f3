"""Scoring of answers: pure functions of truth, answer and topology (docs/scoring.md). Only ``files`` does I/O."""
