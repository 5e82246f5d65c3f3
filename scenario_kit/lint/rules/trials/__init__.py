"""Codes that trials give."""
