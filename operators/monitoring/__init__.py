"""Liveness, readiness and metrics of the operator."""
