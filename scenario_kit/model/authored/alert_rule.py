"""Alert rules and the windows that follow from them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from scenario_kit.model.base import Value
from scenario_kit.model.grid import GRID_SECONDS

#: Seconds between two evaluations, where a group of rules does not say it.
EVALUATION: Final = GRID_SECONDS


class EntityLabel(Value, frozen=True, kw_only=True):
    """Which label of an alert names its entity, and what kind of name it holds."""

    label: str
    kind: Literal["Component", "Pod", "Deployment", "StatefulSet", "HorizontalPodAutoscaler", "Node"]


class AlertRule(Value, frozen=True, kw_only=True):
    """A Prometheus alerting rule of a pack.

    ``expr`` carries no namespace; the trial's is injected. ``range_seconds`` is the longest range selector in it.
    Recorded series are written out in it. The rule is evaluated every ``interval_seconds``, and goes on firing for
    ``keep_firing_seconds`` after the expression holds no longer.
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
        """How long it may take until the rule has followed a change, beyond what every rule takes.

        That is its ``for`` or what it keeps firing, the range that it looks back, and a longer interval than usual.
        """
        held = max(self.for_seconds, self.keep_firing_seconds)
        return held + self.range_seconds + self.interval_seconds - EVALUATION


def find_slowest(rules: Iterable[AlertRule], name: str = "") -> int:
    """Find ``response_seconds`` of the slowest rule, or of the slowest of that name; 0 where there is none."""
    return max((r.response_seconds for r in rules if name in ("", r.name)), default=0)


#: Added to a rule's ``for`` and range where an author gives no deadline: flush, scrape, and the app's own delay.
DEADLINE_SLACK: Final = 240


def compute_alert_deadline(rules: Iterable[AlertRule], name: str, within_seconds: int | None = None) -> int:
    """Compute seconds after the injection by which an alert is due: the author's number, else what its rule may need.

    ``render``, trials and reports all take it from here.
    """
    return within_seconds if within_seconds is not None else find_slowest(rules, name) + DEADLINE_SLACK


class Windows(Value, frozen=True, kw_only=True):
    """How long to look, in seconds (docs/plans.md); computed from the rules, see ``time_windows``."""

    quiet: int
    hold: int
    still_firing: int
    clear: int
    resolve: int
