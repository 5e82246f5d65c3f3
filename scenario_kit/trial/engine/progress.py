"""What an inject step has reached, written down: a proof that was seen once is not asked for again after a crash."""

from __future__ import annotations

from scenario_kit.model import CheckResult, Finding, Value


class FaultProgress(Value, frozen=True, kw_only=True):
    """A fault that is in force: since when, by which step, and which of its effect checks were seen to hold.

    ``checks`` maps the position of a check, as text, to its answer; ``effective_at`` is None until all of them hold, or
    something else shows the effect, which ``remarks`` then say.
    """

    step: int
    injected_at: float
    checks: dict[str, CheckResult] = {}
    effective_at: float | None = None
    remarks: tuple[Finding, ...] = ()


class InjectionProgress(Value, frozen=True, kw_only=True):
    """Faults by name.

    ``proofs`` counts how often a fault was seen to take effect, ``resyncs`` the rounds in which the app's objects were
    rewritten, since the trial began.
    """

    faults: dict[str, FaultProgress] = {}
    proofs: int = 0
    resyncs: int = 0
