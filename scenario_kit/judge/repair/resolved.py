"""When an incident is over: alerts clear and stay clear, nothing new, traffic served, guards unchanged.

Tri-state throughout: missing data is *unknown*, and unknown is never resolved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scenario_kit.judge.alerts.expectations import (
    is_beside,
    is_chronic,
    label,
    label_expectation,
    list_by_class,
    select_timelines,
)
from scenario_kit.judge.repair.binomial import compute_upper_tail
from scenario_kit.model import AlertExpectation, AlertHistory, AlertTimeline, Answer, CheckResult, Value
from scenario_kit.model.authored.scenario import Expect

#: Share of the baseline's request rate that the entry must serve.
SERVED_SHARE: Final = 0.8
#: Fewer requests decide nothing.
MINIMUM_REQUESTS: Final = 200
#: Significance of the exact binomial test of the success ratio.
ALPHA: Final = 0.01
#: How much longer than the incident took to develop it is waited for, as no two of its onsets are alike.
_AGAIN: Final = 1.25
#: An incident that took longer is not waited for as long once more (seconds).
_LONGEST_AGAIN: Final = 3600.0
#: Nor is one that has more to fill than it had (seconds).
_LONGEST_FILLING: Final = 7200.0


class EntryTraffic(Value, frozen=True, kw_only=True):
    """Requests that the entry finished in a window, and how many of them failed; None where there is no data."""

    seconds: float
    requests: float | None = None
    errors: float | None = None

    @property
    def rate(self) -> float | None:
        """Requests per second."""
        return None if self.requests is None else self.requests / self.seconds


class Resolution(Value, frozen=True, kw_only=True):
    """The answer and its reasons, whichever way it is."""

    answer: Answer
    reasons: tuple[str, ...] = ()


def clear_since(history: AlertHistory, expect: Expect) -> float | None:
    """Return since when no must-fire alert fires; None while one of them does."""
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
    """List the labels of alerts that may fire after a repair: chronic ones, and those that the fault raised.

    Chronic is only what fired before the fault, too: else any damage that a repair does could be declared away. What is
    ``benign`` passes, whatever class its alerts have. ``own`` are alerts of trouble beside the incident.
    """
    chronic = {label(t) for t in _list_chronic(history, expect, injected)}
    raised = {label(t) for t in history.timelines if not benign and t.fires_within(injected, repaired)}
    others = {label(t) for t in history.timelines if is_beside(own, expect, t)}
    return sorted(chronic | raised | others)


def find_lingering(
    history: AlertHistory,
    expect: Expect,
    injected: float,
    repaired: float,
    own: Sequence[AlertExpectation] = (),
) -> list[AlertTimeline]:
    """Find alerts that the fault raised, that no expectation demands, and that fire still. What is chronic fired
    before.

    What fired on through the injection, no fault raised; that nobody declared it is told where it was seen (SK303).
    ``own`` are alerts of trouble beside the incident, which nobody has to repair.
    """
    others = [t for t in history.timelines if is_beside(own, expect, t)]
    expected = (*_list_promised(history, expect), *_list_chronic(history, expect, injected), *others)
    began = [t for t in history.timelines if any(injected < i.start <= repaired for i in t.firing)]
    return [t for t in began if t.firing_at(history.end) and t not in expected]


def measure_development(history: AlertHistory, expect: Expect, injected: float, repaired: float) -> float:
    """Measure how long the incident took to come: seconds from the fault to the first moment of the last promised
    alert.
    """
    onsets = [at for t in _list_promised(history, expect) if (at := t.onset(injected)) is not None and at < repaired]
    return max(onsets, default=injected) - injected


def compute_recurrence_wait(
    history: AlertHistory, expect: Expect, injected: float, repaired: float, raised: float = 1.0
) -> float:
    """Compute for how many seconds after a repair to wait for an incident that it only put off.

    That is a little longer than the incident took to come, as no two of its onsets are alike, up to an hour. ``raised``
    is the factor by which the repair raised what fills up. Where half of it was taken at rest, four times as much takes
    seven times as long, which is waited for up to two hours.
    """
    once = min(measure_development(history, expect, injected, repaired) * _AGAIN, _LONGEST_AGAIN)
    return min(once * (2 * raised - 1), max(once, _LONGEST_FILLING))


def find_returned(history: AlertHistory, expect: Expect, cleared: float) -> list[tuple[AlertTimeline, float]]:
    """Find promised alerts that began to fire again after they had all been clear, and when."""
    promised = _list_promised(history, expect)
    return [(t, at) for t in history.timelines if t in promised and (at := t.onset(cleared)) is not None]


def _list_promised(history: AlertHistory, expect: Expect) -> list[AlertTimeline]:
    return [t for e in list_by_class(expect, "MustFire") for t in select_timelines(e, history.timelines)]


def _list_chronic(history: AlertHistory, expect: Expect, injected: float) -> list[AlertTimeline]:
    return [t for t in history.timelines if is_chronic(history, expect, t, injected)]


def judge_alerts(history: AlertHistory, expect: Expect, known: Sequence[str], clear_seconds: float) -> Resolution:
    """Check that must-fire alerts are clear for the whole clear window, and no alert fires now that did not fire
    before.

    ``list_known`` are the labels of those that did: the fault's may take longer to clear.
    """
    if any(g.end is None or g.end > history.end - clear_seconds for g in history.gaps):
        return Resolution(answer="Unknown", reasons=("there is a gap in the data inside the clear window",))
    reasons = [
        f"{label_expectation(e)} fires"
        for e in list_by_class(expect, "MustFire")
        if any(t.firing_at(history.end) for t in select_timelines(e, history.timelines))
    ]
    since = clear_since(history, expect)
    if since is not None and history.end - since < clear_seconds:
        reasons.append(f"clear for {history.end - since:.0f} s of {clear_seconds:.0f} s")
    reasons += [
        f"{label(t)} fires and did not before"
        for t in history.timelines
        if t.firing_at(history.end) and label(t) not in known
    ]
    return Resolution(answer="False" if reasons else "True", reasons=tuple(reasons))


def judge_signs(results: Sequence[CheckResult]) -> Resolution:
    """Judge whether the checks that show a silent incident are all false; true where there are none."""
    shown = tuple(f"{each.describe}: {each.observed}" for each in results if each.answer == "True")
    if shown:
        return Resolution(answer="False", reasons=shown)
    unknown = tuple(f"{each.describe} cannot be told: {each.observed}" for each in results if each.answer == "Unknown")
    return Resolution(answer="Unknown" if unknown else "True", reasons=unknown)


def judge_traffic(baseline: EntryTraffic, now: EntryTraffic) -> Resolution:
    """Return the entry serves at least 80 % of the baseline's rate, with a success ratio no worse than the baseline's.

    The ratio is compared by an exact one-sided binomial test against the baseline's error ratio (add-one smoothed, so
    that a faultless baseline does not turn a single error into certainty).
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
            reasons=(f"the entry serves {rate:.1f} requests/s, {SERVED_SHARE:.0%} of {expected:.1f} are due",),
        )
    total, failed = round(now.requests), round(now.errors)
    if total < MINIMUM_REQUESTS:
        return Resolution(
            answer="Unknown", reasons=(f"{total} requests are too few to judge ({MINIMUM_REQUESTS} are needed)",)
        )
    ratio = (baseline.errors + 1) / (baseline.requests + 2)
    # The exact one-sided test: how likely so many failures or more are, if the ratio is what it was.
    if compute_upper_tail(min(failed, total), total, ratio) < ALPHA:
        return Resolution(
            answer="False",
            reasons=(
                f"{failed} of {total} requests fail, the baseline had {baseline.errors:.0f} of {baseline.requests:.0f}",
            ),
        )
    return Resolution(answer="True")


def combine(parts: Sequence[Resolution]) -> Resolution:
    """Return False if any part is, else Unknown if any is, else True; reasons of all parts that are not True."""
    answers = [p.answer for p in parts]
    answer: Answer = "False" if "False" in answers else "Unknown" if "Unknown" in answers else "True"
    return Resolution(answer=answer, reasons=tuple(r for p in parts if p.answer != "True" for r in p.reasons))
