"""Saved progress of steps, so that what they have established is not checked again after a crash."""

from __future__ import annotations

from scenario_kit.model import CheckResult, Finding, Value


class FaultProgress(Value, frozen=True, kw_only=True):
    """A fault in force: injected when and by which step, and which of its effect checks have held.

    ``checks`` maps the position of a check, as text, to its result; ``effective_at`` is None until all have held, or
    other evidence, given in ``remarks``, shows the effect.
    """

    step: int
    injected_at: float
    checks: dict[str, CheckResult] = {}
    effective_at: float | None = None
    remarks: tuple[Finding, ...] = ()


class TrialProgress(Value, frozen=True, kw_only=True):
    """Progress of the faults, by name, and of the steps that await a resolution.

    ``proofs`` counts verified effects, ``resyncs`` the rounds in which the app's objects were rewritten, since the
    start of the trial. ``resolved`` maps the index of a step, as text, to the time at which it found the incident
    resolved: what it does afterwards, such as restarts, disturbs the app.
    """

    faults: dict[str, FaultProgress] = {}
    proofs: int = 0
    resyncs: int = 0
    resolved: dict[str, float] = {}
