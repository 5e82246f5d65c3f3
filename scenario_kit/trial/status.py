"""``status`` of a Trial: the complete state of its run; no process keeps any state beside it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec

from scenario_kit.model import Finding, Reference, StepStatus, Value
from scenario_kit.model.kubernetes.timestamp import Timestamp, format_timestamp
from scenario_kit.model.shortening import shorten_list

#: Conditions of a Trial, in the order in which they become true. Reasons are PascalCase (docs/reference).
CONDITIONS: Final = ("AppReady", "BaselineQuiet", "FaultsInjected", "SymptomsPresent", "Resolved", "Clean", "Succeeded")
#: Which step proves which condition.
PROOF: Final = {
    "deploy": "AppReady",
    "expectQuiet": "BaselineQuiet",
    "inject": "FaultsInjected",
    "expectAlerts": "SymptomsPresent",
    "expectCleared": "Resolved",
    "expectClean": "Clean",
}


_MOST_REASONS: Final = 12
_LONGEST_MESSAGE: Final = 4000
#: Type, status, reason and message of a condition.
ConditionRow = tuple[str, Literal["True", "False", "Unknown"], str, str]


class Condition(Value, frozen=True, kw_only=True, omit_defaults=False):
    """A Kubernetes condition. The transition time is wall time and follows ``status`` alone."""

    type: str
    status: Literal["True", "False", "Unknown"]
    reason: str
    message: str = ""
    last_transition_time: Timestamp
    observed_generation: int = 0


class AlertNow(Value, frozen=True, kw_only=True):
    """An alert that is currently pending or firing."""

    name: str
    entity: Reference | None = None
    state: Literal["Pending", "Firing"]
    since: float


class TrialStatus(Value, frozen=True, kw_only=True):
    """Times are seconds on the trial's clock; ``outcome`` is empty until the program has ended."""

    observed_generation: int = -1
    namespace: str = ""
    started_at: float | None = None
    now: float | None = None
    current: int = 0
    steps: tuple[StepStatus, ...] = ()
    alerts: tuple[AlertNow, ...] = ()
    outcome: Literal["", "Held", "Broken", "Infra"] = ""
    findings: tuple[Finding, ...] = ()
    conditions: tuple[Condition, ...] = ()
    evidence: str = ""

    def step(self, index: int) -> StepStatus | None:
        """Return the status of the step with that index, if any."""
        return next((s for s in self.steps if s.index == index), None)

    def with_step(self, step: StepStatus) -> TrialStatus:
        """Return this status with one step replaced or added."""
        others = [s for s in self.steps if s.index != step.index]
        steps = tuple(sorted([*others, step], key=lambda s: s.index))
        return msgspec.structs.replace(self, steps=steps, current=step.index)

    def with_condition(
        self, type: str, status: Literal["True", "False", "Unknown"], reason: str, message: str
    ) -> TrialStatus:
        """Return this status with one condition set; the transition time moves only when its status does."""
        row = (type, status, reason, message)
        changed = set_conditions(self.conditions, [row], max(self.observed_generation, 0), CONDITIONS)
        return msgspec.structs.replace(self, conditions=changed)


def set_conditions(
    before: Iterable[Condition], rows: Iterable[ConditionRow], generation: int, order: Sequence[str]
) -> tuple[Condition, ...]:
    """Return the conditions with those of ``rows`` set, in the order of ``types``; unknown types come last."""
    result = tuple(before)
    for type, status, reason, message in rows:
        result = set_condition(result, type, status, reason, message, generation)
    places = {type: place for place, type in enumerate(order)}
    return tuple(sorted(result, key=lambda c: places.get(c.type, len(places))))


def set_condition(
    conditions: Iterable[Condition],
    type: str,
    status: Literal["True", "False", "Unknown"],
    reason: str,
    message: str,
    generation: int,
) -> tuple[Condition, ...]:
    """Return the conditions with one of them set, following the Kubernetes API conventions."""
    existing = {c.type: c for c in conditions}
    old = existing.get(type)
    unmoved = old is not None and old.status == status
    existing[type] = Condition(
        type=type,
        status=status,
        reason=reason,
        message=message,
        observed_generation=generation,
        last_transition_time=old.last_transition_time if old and unmoved else Timestamp(format_wall_time()),
    )
    return tuple(existing.values())


def truncate_reasons(reasons: Sequence[str]) -> str:
    """Return reasons as one message of a condition; those that are too many for a line are counted."""
    return shorten_list(reasons, _MOST_REASONS, "; ")[:_LONGEST_MESSAGE]


def format_wall_time() -> str:
    """Format the current wall time as RFC 3339. Conditions use wall time in every kind of trial."""
    return format_timestamp(time.time())
