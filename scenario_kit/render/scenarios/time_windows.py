"""Time windows of a trial, derived from its alert rules (docs/plans.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from scenario_kit.model import AlertRule, Windows
from scenario_kit.model.authored.alert_rule import find_slowest
from scenario_kit.model.authored.scenario import Expect
from scenario_kit.model.grid import GRID_SECONDS, TRAFFIC_SECONDS

SCRAPE: Final = GRID_SECONDS
EVALUATION: Final = GRID_SECONDS
#: Maximum duration of a repair in seconds: a rollout or the longest crash back-off (300 s), and reconnecting (120 s).
_REPAIR: Final = 600
_DELAY: Final = 2 * (SCRAPE + EVALUATION)


def compute_windows(rules: Sequence[AlertRule], expect: Expect | None = None, period: int = 0) -> Windows:
    """Compute the windows of a trial, in seconds.

    From ``for`` and ``range`` of these rules:

    ============  ================================================================  =========================
    quiet         max(for) + 2 × (scrape + evaluation)                              all
    hold          max(for + range) + 2 × (scrape + evaluation)                      must fire, must not fire
    still_firing  max(for + range) + 2 × evaluation                                 must fire
    clear         max(for + range) + 2 × (scrape + evaluation)                      must fire
    resolve       max(range) + clear + 300 of traffic + 600 for the repair itself   must fire
    ============  ================================================================  =========================

    *quiet* is long enough for every rule that would fire without a fault; *hold*, for every alert that must not fire.
    *still_firing* is the latest time at which an alert that dipped during a restart is back. An alert counts as
    cleared after *clear* without firing. *resolve* is a deadline, not a wait. Between two occurrences of a recurring
    fault, alerts may resolve: all windows but *quiet* are longer by its period.

    Args:
        rules: all rules of the scenario's packs.
        expect: the scenario's expectations. If no alert must fire (a draft, or no incident), all rules count.
        period: the longest period of a recurring fault.
    """
    alerts = expect.alerts if expect else ()
    must_fire = _select_named(rules, {a.name for a in alerts if a.alert_class == "MustFire"}) or tuple(rules)
    judged = _select_named(rules, {a.name for a in alerts if a.alert_class != "MayFire"}) or must_fire
    clear = find_slowest(must_fire) + _DELAY + period
    return Windows(
        quiet=max((r.for_seconds for r in rules), default=0) + _DELAY,
        hold=max(find_slowest(judged), find_slowest(must_fire)) + _DELAY + period,
        still_firing=find_slowest(must_fire) + 2 * EVALUATION + period,
        clear=clear,
        resolve=max((r.range_seconds for r in must_fire), default=0) + clear + TRAFFIC_SECONDS + _REPAIR,
        period=period,
    )


def _select_named(rules: Iterable[AlertRule], names: set[str]) -> tuple[AlertRule, ...]:
    return tuple(r for r in rules if r.name in names)
