"""Kopf operators of scenario-kit."""
