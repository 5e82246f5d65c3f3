"""Spans and traces: what is kept of requests, and what is exported of it."""
