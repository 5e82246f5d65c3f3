"""Injection of faults, and verification of their effects."""
