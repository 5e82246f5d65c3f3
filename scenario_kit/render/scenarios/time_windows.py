"""How long to look: windows that follow from the text of the rules (docs/plans.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from scenario_kit.model import AlertRule, Windows
from scenario_kit.model.authored.alert_rule import find_slowest
from scenario_kit.model.authored.scenario import Expect
from scenario_kit.model.grid import GRID_SECONDS, TRAFFIC_SECONDS

SCRAPE: Final = GRID_SECONDS
EVALUATION: Final = GRID_SECONDS
#: Seconds that a repair itself may take: a rollout, or the longest crash back-off (300 s), then reconnecting (120 s).
_REPAIR: Final = 600
_DELAY: Final = 2 * (SCRAPE + EVALUATION)


def compute_windows(rules: Sequence[AlertRule], expect: Expect | None = None) -> Windows:
    """Compute the windows of a trial, in seconds.

    With ``for`` and ``range`` of a rule, over these rules:

    ============  ================================================================  =========================
    quiet         max(for) + 2 × (scrape + evaluation)                              all
    hold          max(for + range) + 2 × (scrape + evaluation)                      must fire, must not fire
    still_firing  max(for + range) + 2 × evaluation                                 must fire
    clear         max(for + range) + 2 × (scrape + evaluation)                      must fire
    resolve       max(range) + clear + 300 of traffic + 600 for the repair itself   must fire
    ============  ================================================================  =========================

    *quiet* lets every rule fire that would fire without a fault. *hold* gives each alert that must not fire the time
    to do so. *still_firing* is when an alert that dipped during a restart is back at the latest. An alert counts as
    gone only when it would have come back within *clear*. *resolve* is a deadline, not a wait.

    Args:
        rules: all rules of the scenario's packs.
        expect: the scenario's expectations. Where no alert must fire (a draft, or no incident), all rules count.
    """
    alerts = expect.alerts if expect else ()
    must_fire = _select_named(rules, {a.name for a in alerts if a.alert_class == "MustFire"}) or tuple(rules)
    judged = _select_named(rules, {a.name for a in alerts if a.alert_class != "MayFire"}) or must_fire
    clear = find_slowest(must_fire) + _DELAY
    return Windows(
        quiet=max((r.for_seconds for r in rules), default=0) + _DELAY,
        hold=max(find_slowest(judged), find_slowest(must_fire)) + _DELAY,
        still_firing=find_slowest(must_fire) + 2 * EVALUATION,
        clear=clear,
        resolve=max((r.range_seconds for r in must_fire), default=0) + clear + TRAFFIC_SECONDS + _REPAIR,
    )


def _select_named(rules: Iterable[AlertRule], names: set[str]) -> tuple[AlertRule, ...]:
    return tuple(r for r in rules if r.name in names)
