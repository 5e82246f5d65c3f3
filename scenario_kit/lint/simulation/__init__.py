"""Simulate changes on rendered objects."""
