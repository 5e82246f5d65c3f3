"""Scenarios that want more than they may, tried in a lab."""
