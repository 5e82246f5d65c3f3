"""Importers, one module per public format."""
