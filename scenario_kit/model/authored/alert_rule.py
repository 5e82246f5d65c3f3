"""Alert rules, and the time windows derived from them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, Protocol

from scenario_kit.model.base import Value
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.model.kubernetes.reference import Reference

#: Default evaluation interval of a rule group, in seconds.
EVALUATION: Final = GRID_SECONDS


class NamedAlert(Protocol):
    """An alert, observed or declared."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def entity(self) -> Reference | str | None:
        """The object it fires on; empty or None if it is about none, or about any."""


def name_alert(alert: NamedAlert) -> str:
    """Name an alert and its object in messages."""
    return f"{alert.name} on {alert.entity}" if alert.entity else alert.name


class EntityLabel(Value, frozen=True, kw_only=True):
    """The label of an alert that identifies its entity, and the kind of name it contains."""

    label: str
    kind: Literal["Component", "Pod", "Deployment", "StatefulSet", "HorizontalPodAutoscaler", "Node"]


class AlertRule(Value, frozen=True, kw_only=True):
    """A Prometheus alerting rule of a pack.

    ``expr`` has no namespace matcher; the trial's is added. Recorded series are inlined. ``range_seconds`` is the
    longest range selector. The alert keeps firing for ``keep_firing_seconds`` after the expression has become false.
    """

    name: str
    expr: str
    for_seconds: int
    range_seconds: int
    interval_seconds: int = EVALUATION
    keep_firing_seconds: int = 0
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    entity: EntityLabel | None = None
    pack: str = "default"

    @property
    def response_seconds(self) -> int:
        """The maximum time until the rule reacts to a change, beyond the delay that all rules have.

        It is the sum of `for` or `keep_firing_for`, the range, and an interval longer than the default.
        """
        held = max(self.for_seconds, self.keep_firing_seconds)
        return held + self.range_seconds + self.interval_seconds - EVALUATION


def find_slowest(rules: Iterable[AlertRule], name: str = "") -> int:
    """Return ``response_seconds`` of the slowest rule, or of the slowest of that name; 0 if there is none."""
    return max((r.response_seconds for r in rules if name in ("", r.name)), default=0)


#: Added to a rule's `for` and range as the default deadline: flushing, scraping, and the app's own delay.
DEADLINE_SLACK: Final = 240


def compute_alert_deadline(
    rules: Iterable[AlertRule], name: str, within_seconds: int | None = None, *, period: int
) -> int:
    """Return the deadline of an alert in seconds after injection: the author's, or else derived from its rule.

    A recurring fault occurs for the first time one ``period`` after its injection (``Windows.period``, 0 without one).
    The derived deadline includes it; the author's is taken as it stands.
    """
    return within_seconds if within_seconds is not None else period + find_slowest(rules, name) + DEADLINE_SLACK


class Windows(Value, frozen=True, kw_only=True):
    """Observation windows in seconds (docs/plans.md), computed from the rules by ``time_windows``.

    ``period`` is the longest period of a recurring fault, which the windows include; 0 without one.
    """

    quiet: int
    hold: int
    still_firing: int
    clear: int
    resolve: int
    period: int = 0
