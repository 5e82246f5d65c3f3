"""Saved progress of an inject step, so that verified effects are not checked again after a crash."""

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


class InjectionProgress(Value, frozen=True, kw_only=True):
    """Progress of the faults, by name.

    ``proofs`` counts verified effects, ``resyncs`` the rounds in which the app's objects were rewritten, since the
    start of the trial.
    """

    faults: dict[str, FaultProgress] = {}
    proofs: int = 0
    resyncs: int = 0
