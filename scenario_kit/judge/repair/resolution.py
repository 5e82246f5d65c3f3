"""Judge whether an incident is resolved: alerts stay clear, no new ones, traffic served, invariants kept.

Three-valued: missing data is *unknown*, and unknown is never resolved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scenario_kit.judge.alerts.expectations import (
    is_chronic,
    is_distractor_alert,
    list_by_class,
    select_timelines,
)
from scenario_kit.judge.repair.binomial import compute_upper_tail
from scenario_kit.model import AlertExpectation, AlertHistory, AlertTimeline, Answer, CheckResult, Value
from scenario_kit.model.authored.alert_rule import name_alert
from scenario_kit.model.authored.scenario import Expect

#: Share of the baseline's request rate that the entry must serve.
SERVED_SHARE: Final = 0.8
#: Minimum number of requests for a decision.
MINIMUM_REQUESTS: Final = 200
#: Significance of the exact binomial test of the success ratio.
ALPHA: Final = 0.01
#: Wait for recurrence this many times as long as the incident took to develop, as onsets vary.
_RECURRENCE_FACTOR: Final = 1.25
#: Maximum of that wait, in seconds.
_MAX_RECURRENCE_WAIT: Final = 3600.0
#: Maximum of that wait after a repair that raised a capacity, in seconds.
_MAX_CAPACITY_WAIT: Final = 7200.0


class EntryTraffic(Value, frozen=True, kw_only=True):
    """Requests that the entry served in a window, and how many failed; None without data."""

    seconds: float
    requests: float | None = None
    errors: float | None = None

    @property
    def rate(self) -> float | None:
        """Requests per second."""
        return None if self.requests is None else self.requests / self.seconds


class Resolution(Value, frozen=True, kw_only=True):
    """An answer and its reasons."""

    answer: Answer
    reasons: tuple[str, ...] = ()


def find_clear_time(history: AlertHistory, expect: Expect) -> float | None:
    """Return the time since which no must-fire alert fires; None while one does."""
    last = history.start
    for timeline in _list_promised(history, expect):
        for interval in timeline.firing:
            if interval.end is None:
                return None
            last = max(last, interval.end)
    return last


def list_known(
    history: AlertHistory,
    expect: Expect,
    injected: float,
    repaired: float,
    *,
    benign: bool = False,
    own: Sequence[AlertExpectation] = (),
) -> list[str]:
    """List the labels of alerts that may fire after a repair: background alerts, and those that the fault raised.

    A background alert must have fired before the fault: otherwise damage by the repair could be declared away. If
    ``benign``, alerts that the fault raised must resolve whatever their class. ``own`` are alerts of distractors.
    """
    chronic = {name_alert(t) for t in _list_chronic(history, expect, injected)}
    raised = {name_alert(t) for t in history.timelines if not benign and t.fires_within(injected, repaired)}
    others = {name_alert(t) for t in history.timelines if is_distractor_alert(own, expect, t)}
    return sorted(chronic | raised | others)


def find_lingering(
    history: AlertHistory, expect: Expect, injected: float, repaired: float, own: Sequence[AlertExpectation] = ()
) -> list[AlertTimeline]:
    """Find alerts that the fault raised, that are not declared to fire, and that still fire.

    Alerts that fired through the injection are reported elsewhere (SK303). ``own`` are alerts of distractors, which
    need no repair.
    """
    others = [t for t in history.timelines if is_distractor_alert(own, expect, t)]
    expected = (*_list_promised(history, expect), *_list_chronic(history, expect, injected), *others)
    began = [t for t in history.timelines if any(injected < i.start <= repaired for i in t.firing)]
    return [t for t in began if t.firing_at(history.end) and t not in expected]


def find_new(
    history: AlertHistory, expect: Expect, injected: float, repaired: float, own: Sequence[AlertExpectation] = ()
) -> list[AlertTimeline]:
    """Find alerts that fire after a repair and did not before it: damage that it did, and that showed late.

    Must-fire alerts are reported as returned. ``own`` are alerts of distractors.
    """
    known = list_known(history, expect, injected, repaired, own=own)
    promised = _list_promised(history, expect)
    firing = [t for t in history.timelines if t.firing_at(history.end)]
    return [t for t in firing if name_alert(t) not in known and t not in promised]


def measure_development(history: AlertHistory, expect: Expect, injected: float, repaired: float) -> float:
    """Return the seconds from the fault to the onset of the last must-fire alert."""
    onsets = [at for t in _list_promised(history, expect) if (at := t.onset(injected)) is not None and at < repaired]
    return max(onsets, default=injected) - injected


def compute_recurrence_wait(
    history: AlertHistory, expect: Expect, injected: float, repaired: float, raised: float = 1.0
) -> float:
    """Return how many seconds after a repair to wait for an incident that it only postponed.

    The wait is slightly longer than the incident took to develop, up to an hour. ``raised`` is the factor by which the
    repair raised a capacity: if half of it was used at rest, a factor of four takes seven times as long to fill, up to
    two hours.
    """
    once = min(measure_development(history, expect, injected, repaired) * _RECURRENCE_FACTOR, _MAX_RECURRENCE_WAIT)
    return min(once * (2 * raised - 1), max(once, _MAX_CAPACITY_WAIT))


def find_returned(history: AlertHistory, expect: Expect, cleared: float) -> list[tuple[AlertTimeline, float]]:
    """Find must-fire alerts that fired again after all had cleared, with the time."""
    promised = _list_promised(history, expect)
    return [(t, at) for t in history.timelines if t in promised and (at := t.onset(cleared)) is not None]


def _list_promised(history: AlertHistory, expect: Expect) -> list[AlertTimeline]:
    return [t for e in list_by_class(expect, "MustFire") for t in select_timelines(e, history.timelines)]


def _list_chronic(history: AlertHistory, expect: Expect, injected: float) -> list[AlertTimeline]:
    return [t for t in history.timelines if is_chronic(history, expect, t, injected)]


def judge_alerts(history: AlertHistory, expect: Expect, known: Sequence[str], clear_seconds: float) -> Resolution:
    """Judge whether must-fire alerts were clear for the whole clear window, and no new alert fires.

    ``known`` are the labels from `list_known`; the fault's other alerts may take longer to clear.
    """
    if any(g.end is None or g.end > history.end - clear_seconds for g in history.gaps):
        return Resolution(answer="Unknown", reasons=("there is a gap in the data inside the clear window",))
    reasons = [
        f"{name_alert(e)} fires"
        for e in list_by_class(expect, "MustFire")
        if any(t.firing_at(history.end) for t in select_timelines(e, history.timelines))
    ]
    since = find_clear_time(history, expect)
    if since is not None and history.end - since < clear_seconds:
        reasons.append(f"clear for {history.end - since:.0f} s of {clear_seconds:.0f} s")
    reasons += [
        f"{name_alert(t)} fires and did not before"
        for t in history.timelines
        if t.firing_at(history.end) and name_alert(t) not in known
    ]
    return Resolution(answer="False" if reasons else "True", reasons=tuple(reasons))


def judge_signs(results: Sequence[CheckResult]) -> Resolution:
    """Judge whether the checks that show a silent incident are all false; true without any."""
    shown = tuple(f"{each.describe}: {each.observed}" for each in results if each.answer == "True")
    if shown:
        return Resolution(answer="False", reasons=shown)
    unknown = tuple(f"{each.describe} is unknown: {each.observed}" for each in results if each.answer == "Unknown")
    return Resolution(answer="Unknown" if unknown else "True", reasons=unknown)


def judge_traffic(baseline: EntryTraffic, now: EntryTraffic) -> Resolution:
    """Judge whether the entry serves at least 80 % of the baseline's rate with a success ratio no worse.

    Errors are compared with the baseline's error ratio by an exact one-sided binomial test. The ratio is add-one
    smoothed: otherwise a baseline without errors makes a single error significant.
    """
    if None in (baseline.requests, baseline.errors, now.requests, now.errors):
        return Resolution(answer="Unknown", reasons=("no request data from the entry",))
    assert baseline.requests is not None
    assert baseline.errors is not None
    assert now.requests is not None
    assert now.errors is not None
    expected = baseline.requests / baseline.seconds
    rate = now.requests / now.seconds
    if rate < SERVED_SHARE * expected:
        return Resolution(
            answer="False",
            reasons=(f"the entry serves {rate:.1f} requests/s, less than {SERVED_SHARE:.0%} of {expected:.1f}",),
        )
    total, failed = round(now.requests), round(now.errors)
    if total < MINIMUM_REQUESTS:
        return Resolution(
            answer="Unknown", reasons=(f"{total} requests are too few to judge ({MINIMUM_REQUESTS} are needed)",)
        )
    ratio = (baseline.errors + 1) / (baseline.requests + 2)
    # The p-value of this many failures under the baseline's ratio.
    if compute_upper_tail(min(failed, total), total, ratio) < ALPHA:
        return Resolution(
            answer="False",
            reasons=(
                f"{failed} of {total} requests fail, the baseline had {baseline.errors:.0f} of {baseline.requests:.0f}",
            ),
        )
    return Resolution(answer="True")


def combine(parts: Sequence[Resolution]) -> Resolution:
    """Combine parts: False if any is, else Unknown if any is, else True; reasons of parts that are not True."""
    answers = [p.answer for p in parts]
    answer: Answer = "False" if "False" in answers else "Unknown" if "Unknown" in answers else "True"
    return Resolution(answer=answer, reasons=tuple(r for p in parts if p.answer != "True" for r in p.reasons))
