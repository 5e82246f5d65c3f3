"""Layout of the alert timeline: one lane per trial on a shared scale. Pure geometry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import ceil, floor
from typing import Final, NamedTuple

from scenario_kit.campaign import TrialResult
from scenario_kit.judge.alerts.expectations import matches
from scenario_kit.model import AlertTimeline
from scenario_kit.model.authored.alert_rule import name_alert
from scenario_kit.model.authored.scenario import AlertExpectation, Expect

#: Pixels: name column, drawing, lane, gap between alerts, and header with the steps.
NAMES, WIDTH, LANE, GAP, HEAD = 300, 820, 9, 10, 34
#: Minimum height of a row, which holds two lines of text.
_ROW: Final = 28.0
#: Minimum width of a step with a label.
_NARROW: Final = 46
#: Maps seconds to pixels.
_ToPixels = Callable[[float], float]
_TICKS: Final = (60, 120, 300, 600, 1200, 1800, 3600, 7200)


class Bar(NamedTuple):
    """An interval of one alert in one trial. ``state`` is firing, pending or missing; ``text`` is its tooltip."""

    x: float
    y: float
    width: float
    state: str
    text: str


class TimelineRow(NamedTuple):
    """One alert: its name, entity, declared class and lanes."""

    name: str
    entity: str
    declared: str
    y: float
    height: float
    bars: tuple[Bar, ...]


class Band(NamedTuple):
    """A step of the first trial."""

    x: float
    width: float
    name: str
    outcome: str
    short: str


class AxisTick(NamedTuple):
    """A tick of the time axis."""

    x: float
    text: str


class Chart(NamedTuple):
    """The complete drawing in pixels; ``injected`` is the x coordinate of injection."""

    width: float
    height: float
    rows: tuple[TimelineRow, ...]
    bands: tuple[Band, ...]
    ticks: tuple[AxisTick, ...]
    injected: float
    removed: float
    lanes: tuple[str, ...]


def build_chart(trials: Sequence[TrialResult], expect: Expect) -> Chart | None:
    """Lay out the timelines of trials, one lane each, aligned at injection; None if no trial has a history."""
    seen = [t for t in trials if t.history is not None]
    if not seen:
        return None
    start = min(_shift_to_zero(t, t.history.start) for t in seen if t.history)
    end = max(_shift_to_zero(t, t.history.end) for t in seen if t.history)
    scale = WIDTH / max(end - start, 1.0)

    def x(seconds: float) -> float:
        return round(NAMES + (min(max(seconds, start), end) - start) * scale, 1)

    rows = tuple(_build_rows(seen, expect, x, end))
    bands = tuple(_build_bands(seen[0], x))
    bottom = rows[-1].y + rows[-1].height if rows else HEAD + GAP
    return Chart(
        width=NAMES + WIDTH + 10,
        height=bottom + 30,
        rows=rows,
        bands=bands,
        ticks=tuple(AxisTick(x(at), _format_minutes(at)) for at in _choose_marks(start, end)),
        injected=x(0.0) if seen[0].injected_at is not None else NAMES,
        removed=_find_removal(seen[0], x, end),
        lanes=tuple(t.purpose for t in seen),
    )


def _find_zero(trial: TrialResult) -> float:
    """Return time zero: injection, else the start of the trial."""
    return trial.injected_at if trial.injected_at is not None else (trial.started_at or 0.0)


def _shift_to_zero(trial: TrialResult, at: float) -> float:
    return at - _find_zero(trial)


def _build_rows(trials: Sequence[TrialResult], expect: Expect, x: _ToPixels, end: float) -> Iterable[TimelineRow]:
    order = {"MustFire": 0, "MustNotFire": 1, "background": 2, "MayFire": 3, "undeclared": 4}
    shown = {
        (timeline.name, timeline.entity or ""): classify_alert(expect, timeline)
        for trial in trials
        for timeline in (trial.history.timelines if trial.history else ())
        if _is_worth_showing(trial, timeline)
    }
    shown |= {(a.name, a.entity or ""): "MustFire" for a in _list_never_fired(trials, expect)}
    y = float(HEAD + GAP)
    height = max(_ROW, float(LANE * len(trials)))
    above = (height - LANE * len(trials)) / 2
    for (name, entity), declared in sorted(shown.items(), key=lambda item: (order[item[1]], item[0])):
        bars = [
            bar
            for lane, trial in enumerate(trials)
            for timeline in (trial.history.timelines if trial.history else ())
            if (timeline.name, timeline.entity or "") == (name, entity)
            for bar in _build_bars(trial, timeline, y + above + lane * LANE, x, end)
        ]
        missing = [a for a in _list_never_fired(trials, expect) if (a.name, a.entity) == (name, entity)]
        bars += [
            _build_missing_bar(trial, alert, y + above + lane * LANE, x, end)
            for alert in missing
            for lane, trial in enumerate(trials)
            if _expects_alerts(trial)
        ]
        yield TimelineRow(name, entity, declared, y, height, tuple(bars))
        y += height + GAP


def _list_never_fired(trials: Sequence[TrialResult], expect: Expect) -> list[AlertExpectation]:
    """List the MustFire alerts that were neither pending nor firing in any trial that expected them."""
    expecting = [trial for trial in trials if _expects_alerts(trial)]
    return [
        alert
        for alert in expect.alerts
        if alert.alert_class == "MustFire" and expecting and not any(_shows(trial, alert) for trial in expecting)
    ]


def _expects_alerts(trial: TrialResult) -> bool:
    began = any(step.kind == "expectAlerts" and step.outcome != "Skipped" for step in trial.steps)
    return began and trial.injected_at is not None and trial.history is not None


def _shows(trial: TrialResult, alert: AlertExpectation) -> bool:
    timelines = trial.history.timelines if trial.history else ()
    return any(matches(alert, timeline) and _is_worth_showing(trial, timeline) for timeline in timelines)


def _build_missing_bar(trial: TrialResult, alert: AlertExpectation, y: float, x: _ToPixels, end: float) -> Bar:
    """Build the bar of a missing alert, from injection to its deadline."""
    last = min(float(alert.within_seconds or end), end)
    text = f"{trial.purpose}: {alert.name} expected by {_format_minutes(last)}, never fired"
    return Bar(x(0.0), y, round(max(x(last) - x(0.0), 1.5), 1), "missing", text)


def _is_worth_showing(trial: TrialResult, timeline: AlertTimeline) -> bool:
    """Return whether an alert fired, or was pending after injection: at startup, alerts of every app are pending."""
    return bool(timeline.firing) or any(
        trial.injected_at is not None and (p.end is None or p.end > trial.injected_at) for p in timeline.pending
    )


def _build_bars(trial: TrialResult, timeline: AlertTimeline, y: float, x: _ToPixels, end: float) -> Iterable[Bar]:
    for state, intervals in (("pending", timeline.pending), ("firing", timeline.firing)):
        for interval in intervals:
            first = _shift_to_zero(trial, interval.start)
            last = end if interval.end is None else _shift_to_zero(trial, interval.end)
            until = "the end" if interval.end is None else _format_minutes(last)
            text = f"{trial.purpose}: {name_alert(timeline)} {state} from {_format_minutes(first)} to {until}"
            yield Bar(x(first), y, round(max(x(last) - x(first), 1.5), 1), state, text)


def classify_alert(expect: Expect, timeline: AlertTimeline) -> str:
    """Return the declared class of an alert, ``background``, or ``undeclared``."""
    for expectation in expect.alerts:
        if matches(expectation, timeline):
            return expectation.alert_class
    if any(matches(b, timeline) for b in expect.background):
        return "background"
    return "undeclared"


def _build_bands(trial: TrialResult, x: _ToPixels) -> Iterable[Band]:
    for step in trial.steps:
        if step.finished_at is None or step.finished_at <= step.started_at:
            continue
        left, right = x(_shift_to_zero(trial, step.started_at)), x(_shift_to_zero(trial, step.finished_at))
        width = round(right - left, 1)
        room = int(width / 6.4)
        short = "" if width < _NARROW else step.step if len(step.step) <= room else step.step[: room - 1] + "…"
        yield Band(left, width, step.step, step.outcome, short)


def _find_removal(trial: TrialResult, x: _ToPixels, end: float) -> float:
    """Return the x coordinate at which the fault ends: repair, else teardown."""
    if trial.injected_at is None:
        return float(NAMES)
    for step in trial.steps:
        if step.kind in ("expectCleared", "teardown"):
            return x(_shift_to_zero(trial, step.started_at))
    return x(end)


def _choose_marks(start: float, end: float) -> list[float]:
    step = next((t for t in _TICKS if (end - start) / t <= 10), _TICKS[-1])
    return [float(step * k) for k in range(ceil(start / step), floor(end / step) + 1)]


def _format_minutes(seconds: float) -> str:
    sign = "−" if seconds < 0 else "+"
    minutes, rest = divmod(round(abs(seconds)), 60)
    return f"{sign}{minutes}:{rest:02d}"
