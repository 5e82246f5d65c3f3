"""Differences between two recordings of a case, with tolerances for times. Pure.

A real node takes time where the simulated one reacts at once (a sandbox, a relist every second, load), so watchers may
miss states that are ``BRIEF``, and changes near the end of a recording may be cut off.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from scenario_kit.model.base import Value
from tools.reality.recording import Event, PodView, Recording

#: Seconds up to which a state may be missing in the other recording.
BRIEF = 2.5
#: Tolerance of times: so many seconds plus that share of the later one.
SLACK_SECONDS, SLACK_SHARE = 5.0, 0.2
#: Tolerance of event counts: so many plus that share of the larger one.
COUNT_SLACK, COUNT_SHARE = 2, 0.34


class Difference(Value, frozen=True, kw_only=True):
    """One aspect in which two recordings of a case differ."""

    case: str
    aspect: str
    real: str
    simulated: str

    def __str__(self) -> str:
        return f"{self.case}, {self.aspect}: real {self.real or '–'}, simulated {self.simulated or '–'}"


class Stretch(Value, frozen=True, kw_only=True):
    """A state from ``at`` to ``until``."""

    word: str
    at: float
    until: float


def find_differences(real: Recording, simulated: Recording) -> list[Difference]:
    """Return all differences."""
    found: list[tuple[str, str, str]] = [
        *_compare_pod(real, simulated),
        *_compare_events(real.events, simulated.events, real.seconds),
    ]
    names = sorted({name for r in (real, simulated) for v in r.views for name in v.containers})
    for name in names:
        found += _compare_container(name, real, simulated)
    return [Difference(case=real.case, aspect=aspect, real=a, simulated=b) for aspect, a, b in found]


def are_close(a: float, b: float) -> bool:
    """Return whether two times or durations agree within the tolerance."""
    return abs(a - b) <= SLACK_SECONDS + SLACK_SHARE * max(a, b)


def split_stretches(points: Iterable[tuple[float, str]], end: float) -> list[Stretch]:
    """Convert a series of (time, state) to stretches; an empty state is skipped."""
    changes: list[tuple[float, str]] = []
    for at, word in points:
        if not changes or changes[-1][1] != word:
            changes.append((at, word))
    if not changes:
        return []
    edges = [at for at, _ in changes[1:]] + [max(end, changes[-1][0])]
    return [Stretch(word=word, at=at, until=until) for (at, word), until in zip(changes, edges, strict=True) if word]


def has_same_course(a: Sequence[Stretch], b: Sequence[Stretch], end: float) -> bool:
    """Return whether two series have the same lasting states in the same order."""
    return _occurs(a, b, end) and _occurs(b, a, end)


def _occurs(these: Sequence[Stretch], among: Sequence[Stretch], end: float) -> bool:
    words = iter([s.word for s in among])
    return all(s.word in words or are_close(s.at, end) for s in _keep_lasting(these))


def _keep_lasting(course: Sequence[Stretch]) -> list[Stretch]:
    """Drop brief states, and merge equal neighbors."""
    kept: list[Stretch] = []
    for stretch in course:
        if stretch.until - stretch.at > BRIEF and not (kept and kept[-1].word == stretch.word):
            kept.append(stretch)
    return kept


def _compare_pod(real: Recording, simulated: Recording) -> Iterable[tuple[str, str, str]]:
    phases = [split_stretches([(v.at, v.phase) for v in r.views], r.seconds) for r in (real, simulated)]
    if not has_same_course(phases[0], phases[1], real.seconds):
        yield "phases", _format_course(phases[0]), _format_course(phases[1])
    ready = [
        split_stretches([(v.at, _read_readiness(v)) for v in r.views], r.gone or r.seconds) for r in (real, simulated)
    ]
    if not has_same_course(ready[0], ready[1], real.seconds) or any(
        s.word == "ready" and not are_close(s.at, t.at) for s, t in zip(*map(_keep_lasting, ready), strict=False)
    ):
        yield "readiness", _format_course(ready[0]), _format_course(ready[1])
    if (real.gone is None) != (simulated.gone is None) or not are_close(real.gone or 0, simulated.gone or 0):
        yield "gone at", str(real.gone or ""), str(simulated.gone or "")
    last = [r.views[-1] if r.views else PodView(at=0, phase="") for r in (real, simulated)]
    for what in ("reason", "message"):
        a, b = (getattr(v, what) for v in last)
        if a != b:
            yield f"pod {what}", a, b
    yield from _compare_conditions(real, simulated)


def _compare_conditions(real: Recording, simulated: Recording) -> Iterable[tuple[str, str, str]]:
    """Compare the lasting values of each condition."""
    kinds = sorted({kind for r in (real, simulated) for v in r.views for kind in v.conditions})
    for kind in kinds:
        courses = [
            split_stretches([(v.at, v.conditions.get(kind, "")) for v in r.views], r.gone or r.seconds)
            for r in (real, simulated)
        ]
        if not has_same_course(courses[0], courses[1], real.seconds):
            yield f"condition {kind}", _format_course(courses[0]), _format_course(courses[1])


def _compare_container(name: str, real: Recording, simulated: Recording) -> Iterable[tuple[str, str, str]]:
    both = (real, simulated)
    times = [_restarts(name, r) for r in both]
    if not _has_same_restarts(times[0], times[1], real.seconds):
        yield f"{name} restarts at", _format_times(times[0]), _format_times(times[1])
    most = min(len(t) for t in times)
    courses, said, last = [], [], []
    for r in both:
        views = [(v.at, v.containers[name]) for v in r.views if name in v.containers]
        kept = [(at, c) for at, c in views if c.restarts <= most]
        end = views[len(kept)][0] if len(kept) < len(views) else (r.gone or r.seconds)
        courses.append(split_stretches([(at, c.word) for at, c in kept], end))
        spoken = split_stretches([(at, f"{c.word}: {c.message}" if c.message else "") for at, c in kept], end)
        said.append({s.word: s.until - s.at for s in spoken})
        last.append({c.last for _, c in kept if c.last})
    if not has_same_course(courses[0], courses[1], real.seconds):
        yield f"{name} states", _format_course(courses[0]), _format_course(courses[1])
    for aspect, mine, others in ((0, said[0], said[1]), (1, said[1], said[0])):
        alone = [word for word, seconds in mine.items() if word not in others and seconds > BRIEF]
        for word in alone:
            yield f"{name} message", *((word, "") if aspect == 0 else ("", word))
    if last[0] != last[1]:
        yield f"{name} last state", ", ".join(sorted(last[0])), ", ".join(sorted(last[1]))


def _compare_events(
    real: Sequence[Event], simulated: Sequence[Event], seconds: float
) -> Iterable[tuple[str, str, str]]:
    counted = [{(e.type, e.reason, e.where, e.message): e for e in events} for events in (real, simulated)]
    for key in sorted({*counted[0], *counted[1]}):
        reported = [side.get(key) for side in counted]
        present = [e for e in reported if e is not None]
        if len(present) == 2:
            a, b = (e.count for e in present)
            if abs(a - b) > COUNT_SLACK + COUNT_SHARE * max(a, b):
                yield f"count of event {key[1]}", f"{a} × {key[3]}", f"{b} × {key[3]}"
        elif not are_close(present[0].first, seconds):
            texts = [f"{e.type}: {e.message}" if e else "" for e in reported]
            yield f"event {key[1]}", texts[0], texts[1]


def _restarts(name: str, recording: Recording) -> list[float]:
    """Return the times of the container's restarts."""
    times: list[float] = []
    for v in recording.views:
        count = v.containers[name].restarts if name in v.containers else 0
        times += [v.at] * (count - len(times))
    return times


def _has_same_restarts(a: list[float], b: list[float], seconds: float) -> bool:
    spans = [[later - earlier for earlier, later in pairwise([0.0, *times])] for times in (a, b)]
    extra = (a if len(a) > len(b) else b)[min(len(a), len(b)) :]
    near_the_end = not extra or (len(extra) == 1 and are_close(extra[0], seconds))
    return near_the_end and all(are_close(x, y) for x, y in zip(*spans, strict=False))


def _read_readiness(view: PodView) -> str:
    return "ready" if view.conditions.get("Ready", "").startswith("True") else "not ready"


def _format_course(course: Sequence[Stretch]) -> str:
    return ", ".join(f"{s.at:g} s {s.word}" for s in course)


def _format_times(times: Sequence[float]) -> str:
    return ", ".join(f"{t:g} s" for t in times)
