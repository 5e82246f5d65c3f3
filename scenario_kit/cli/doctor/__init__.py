"""Diagnosis of this machine or a cluster."""
