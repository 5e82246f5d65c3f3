"""What a scenario's own folder says about its last passed validation: ``evidence.json``."""

from __future__ import annotations

from typing import Final, Literal

from scenario_kit.model.base import Value
from scenario_kit.model.results.difficulty import Difficulty

EVIDENCE_VERSION: Final = 1
#: What a pass claims: the twin says so, or real containers agreed at least once.
Tier = Literal["simulated", "reproduced"]


class FaultVersion(Value, frozen=True, kw_only=True):
    """A fault as it was used: its type, the version of its definition, and a sum over definition and use."""

    name: str
    type: str
    version: int = 0
    digest: str


class VersionKey(Value, frozen=True, kw_only=True):
    """Under what evidence is valid (docs/evidence.md): another value of any part voids it.

    ``images`` is a sum over the images of the rendered app with their digests where those are locked, ``alerts`` one
    over the rules, ``contract`` the version of the formats. ``kubernetes`` is the minor version, as ``1.34``;
    ``engine`` names what injects chaos. Both are empty where the environment did not say.
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
    """An alert that fired: in how many of ``n`` repeats, and after how many seconds since injection."""

    alert: str
    declared: str
    fired: int
    n: int
    median_seconds: float | None = None
    p95_seconds: float | None = None
    within_seconds: int | None = None


class Fingerprint(Value, frozen=True, kw_only=True):
    """What a solver sees of an incident. ``answer`` are the labelled objects; ``symptoms`` are the alerts of each
    repeat with their entities, ``signs`` what an investigation finds in most of them.
    """

    app: str
    answer: tuple[str, ...] = ()
    symptoms: tuple[tuple[str, ...], ...] = ()
    signs: tuple[str, ...] = ()


class Evidence(Value, frozen=True, kw_only=True):
    """A passed validation in short. ``n`` counts valid repeats and ``failures`` the broken ones among them.

    ``at_least`` is the exact one-sided 95 % lower bound of the chance that a repeat holds, ``minutes`` of wall time is
    what ``trials`` trials took together; ``date`` is the day (UTC). ``difficulty`` is what was measured of it,
    ``fingerprint`` what it looks like to a solver.
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
    date: str
    kit: str
    difficulty: Difficulty | None = None
    fingerprint: Fingerprint | None = None
