"""Spans and traces: sampling and export."""
