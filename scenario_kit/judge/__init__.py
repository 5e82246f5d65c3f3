"""Verb *judge*: observation × expectation → findings. Pure; a gap in the evidence is unknown, never good."""

from scenario_kit.judge import alerts, control_runs, expectations, invariants, leftovers, resolved

__all__ = ["alerts", "expectations", "invariants", "control_runs", "leftovers", "resolved"]
