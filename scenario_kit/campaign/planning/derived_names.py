"""Names of trials and of their namespaces, which reveal nothing about the scenario. Pure."""

from __future__ import annotations

import hashlib

from scenario_kit.campaign.planning.plans import PlannedTrial


def derive_trial_name(scenario: str, planned: PlannedTrial, digest: str, plan: str) -> str:
    """Return the deterministic name of a trial, by which an interrupted validation finds it again."""
    identity = _shorten(f"{scenario}{digest}{plan}{planned.purpose}{planned.seed}")
    return f"{scenario[:36].rstrip('-')}-{planned.purpose}-{identity}"


def derive_namespace(app: str, unique: str) -> str:
    """Return ``<app>-<4 characters>``, which reveals nothing about the scenario.

    ``unique`` must differ in every run, even of the same trial: Prometheus still has series of earlier ones.
    """
    return f"{app}-{_shorten(unique)}"


def _shorten(text: str) -> str:
    # Letters only: the result is a valid label at any position.
    value = int(hashlib.sha256(text.encode()).hexdigest(), 16)
    letters = "bcdfghjklmnpqrstvwxz"
    return "".join(letters[(value >> (8 * i)) % len(letters)] for i in range(4))
