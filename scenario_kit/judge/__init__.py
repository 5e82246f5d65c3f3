"""Verb *judge*: observation × expectation → findings. Pure; a gap in the evidence is unknown, never good."""

from scenario_kit.judge import alerts, expectations, guards, healthy, residue, resolved

__all__ = ["alerts", "expectations", "guards", "healthy", "residue", "resolved"]
