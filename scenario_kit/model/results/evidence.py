"""Evidence of a scenario's last passed validation: ``evidence.json``."""

from __future__ import annotations

import datetime
from typing import Final, Literal

from scenario_kit.model.base import Value
from scenario_kit.model.results.difficulty import Difficulty

EVIDENCE_VERSION: Final = 1
#: Strength of the evidence: simulated by the twin only, or reproduced with real containers at least once.
Tier = Literal["simulated", "reproduced"]


class FaultVersion(Value, frozen=True, kw_only=True):
    """A fault in use: its type, the version of its definition, and a digest of definition and use."""

    name: str
    type: str
    version: int = 0
    digest: str


class VersionKey(Value, frozen=True, kw_only=True):
    """The conditions under which evidence is valid (docs/evidence.md); any difference invalidates it.

    ``images`` is a digest of the rendered app's images, ``alerts`` one of the rules, ``contract`` the version of the
    formats. ``kubernetes`` is the minor version, as ``1.34``; ``engine`` is the fault injector. Both are empty if
    unknown.
    """

    scenario: str
    app: str
    app_digest: str
    images: str
    faults: tuple[FaultVersion, ...] = ()
    alerts: str
    kubernetes: str = ""
    engine: str = ""
    contract: str


class Onset(Value, frozen=True, kw_only=True):
    """The onset of an alert: in how many of ``n`` repeats it fired, and seconds after injection."""

    alert: str
    declared: str
    fired: int
    n: int
    median_seconds: float | None = None
    p95_seconds: float | None = None
    within_seconds: int | None = None


class Fingerprint(Value, frozen=True, kw_only=True):
    """The observable part of an incident.

    ``answer`` are the labelled objects, ``symptoms`` the alerts of each repeat with their entities, ``signs`` what an
    investigation finds in most repeats.
    """

    app: str
    answer: tuple[str, ...] = ()
    symptoms: tuple[tuple[str, ...], ...] = ()
    signs: tuple[str, ...] = ()


class Evidence(Value, frozen=True, kw_only=True):
    """A summary of a passed validation. ``n`` counts valid repeats, ``failures`` the broken ones among them.

    ``at_least`` is the exact one-sided 95 % lower bound of the probability that a repeat holds, ``minutes`` the wall
    time of all ``trials``, ``date`` the day (UTC).
    """

    schema_version: int = EVIDENCE_VERSION
    scenario: str
    digest: str
    key: VersionKey
    plan: str
    n: int
    failures: int = 0
    at_least: float
    claims: float
    tier: Tier
    data_plane: str
    alerts: tuple[Onset, ...] = ()
    trials: int
    minutes: float
    date: datetime.date
    kit: str
    difficulty: Difficulty | None = None
    fingerprint: Fingerprint | None = None
