"""Check whether components serve as they did before the fault, where no alert rule would tell. Pure.

Rules have thresholds: a share of failing requests, a minimum rate, a duration. Damage below these raises no alert, so
the work of each component is compared with that before the first fault. A difference must be significant, and large
enough that an honest repair does not cause it: emptied caches, new processes and chance do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scenario_kit.judge.alerts.propagation_traffic import (
    TrafficChange,
    compute_chance,
    compute_error_ratio,
    compute_rate,
    format_bound,
)
from scenario_kit.model.runtime.observation import Work

#: Significance level. An app has some twenty components with three comparisons each.
_ALPHA: Final = 1e-4
#: Minimum increase of the share of failing requests.
_ERROR_INCREASE: Final = 0.01
#: Share of the requests that must have become slower, by this factor and so many milliseconds.
_SLOWER_SHARE, _SLOWER_FACTOR, _SLOWER_MILLISECONDS = 0.25, 2.0, 50.0
#: Share of the former request rate below which callers do not reach the component any more.
_RATE_SHARE: Final = 0.5


def find_degradation(
    before: Mapping[str, Work], after: Mapping[str, Work], *, same_load: bool = True
) -> dict[str, TrafficChange]:
    """Return what became worse, by component.

    Durations depend on the load, and are compared only if it is the ``same_load``.
    """
    found = {}
    for name, was in before.items():
        now = after.get(name, Work(seconds=next((w.seconds for w in after.values()), was.seconds), requests=0.0))
        worse = _compare_errors(was, now) or (_compare_durations(was, now) if same_load else None)
        if change := worse or _compare_rates(was, now):
            found[name] = change
    return found


def _compare_errors(before: Work, after: Work) -> TrafficChange | None:
    was, now = compute_error_ratio(before), compute_error_ratio(after)
    if now - was < _ERROR_INCREASE:
        return None
    if compute_chance(before.errors, after.errors, before.requests, after.requests) >= _ALPHA:
        return None
    return TrafficChange("errors", f"{was:.1%}", f"{now:.1%}")


def _compare_durations(before: Work, after: Work) -> TrafficChange | None:
    """Compare the shares served within some time, and within a multiple of it now."""
    if min(before.requests, after.requests) <= 0:
        return None
    for bound, count in before.within:
        slow = [
            (other, n)
            for other, n in after.within
            if other >= max(_SLOWER_FACTOR * bound, bound + _SLOWER_MILLISECONDS)
        ]
        if not slow:
            continue
        limit, within = slow[0]
        late = max(0.0, before.requests - count), max(0.0, after.requests - within)
        if late[1] / after.requests - late[0] / before.requests < _SLOWER_SHARE:
            continue
        if compute_chance(*late, before.requests, after.requests) < _ALPHA:
            was, now = late[0] / before.requests, late[1] / after.requests
            return TrafficChange(
                "slow requests", f"{was:.0%} above {format_bound(bound)}", f"{now:.0%} above {format_bound(limit)}"
            )
    return None


def _compare_rates(before: Work, after: Work) -> TrafficChange | None:
    was, now = compute_rate(before), compute_rate(after)
    if (
        now >= _RATE_SHARE * was
        or compute_chance(before.requests, after.requests, before.seconds, after.seconds) >= _ALPHA
    ):
        return None
    return TrafficChange("requests", f"{was:.3g}/s", f"{now:.3g}/s")
