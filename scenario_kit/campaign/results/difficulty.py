"""Measure the difficulty of an incident from its repeats (docs/evidence.md). Pure.

Complexity is ITBench's: the cube root of path length × repair steps × technologies. The rest measures two naive
solvers: one blames what alerts first, the other what alerts loudest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from statistics import median
from typing import Final

from scenario_kit.campaign.interventions.label_interventions import list_labelled
from scenario_kit.campaign.interventions.repairs import build_solutions
from scenario_kit.campaign.results.result import TrialResult
from scenario_kit.campaign.results.summary import end_of_hold, find_first_onset
from scenario_kit.judge.alerts.expectations import is_same_entity
from scenario_kit.model import App, Reference, Runbook
from scenario_kit.model.authored.scenario import PropagationEdge
from scenario_kit.model.results.difficulty import Complexity, Difficulty
from scenario_kit.model.results.purpose import is_repeat
from scenario_kit.scoring.metrics.complexity import classify_complexity, compute_complexity

#: Success rate of a naive solver from which an incident is trivial.
_TRIVIAL: Final = 0.8


def measure_difficulty(runbook: Runbook, results: Iterable[TrialResult]) -> Difficulty | None:
    """Measure the difficulty of an incident; None without an incident, or if no repeat held."""
    repeats = [r for r in results if is_repeat(r.purpose) and r.outcome == "Held" and r.history is not None]
    if runbook.outcome != "Incident" or not repeats:
        return None
    app, edges = runbook.app, runbook.ground_truth.propagation
    causes = [c.entity for c in list_labelled(runbook)]
    path = [*causes, *(end for e in edges for end in (e.from_, e.to))]
    heard = [measure_loudness(r) for r in repeats]
    onsets = [{e: find_first_onset(r, e, end_of_hold(r)) for e in seen} for r, seen in zip(repeats, heard, strict=True)]
    firsts = [min(times.values()) for times in onsets if times]
    ranks = [rank for seen in heard if (rank := _rank(app, seen, causes)) is not None]
    first = sum(_compute_share(app, {e: -t for e, t in times.items()}, causes) for times in onsets) / len(repeats)
    loudest = sum(_compute_share(app, seen, causes) for seen in heard) / len(repeats)
    entities = sorted({e for seen in heard for e in seen})
    return Difficulty(
        complexity=measure_complexity(runbook),
        first_alert_seconds=median(firsts) if firsts and all(map(isfinite, firsts)) else None,
        off_path=tuple(
            e for e in entities
            if 2 * sum(e in seen for seen in heard) >= len(heard) and not any(is_same_thing(app, e, p) for p in path)
        ),
        blame_first=round(first, 3),
        blame_loudest=round(loudest, 3),
        cause_rank=median(ranks) if ranks else None,
        trivial=max(first, loudest) >= _TRIVIAL,
    )  # fmt: skip


def measure_complexity(runbook: Runbook) -> Complexity:
    """Compute the complexity from the scenario alone."""
    causes = [c.entity for c in list_labelled(runbook)]
    edges = runbook.ground_truth.propagation
    path = max(1, max((_find_longest_path(cause, edges) for cause in causes), default=1))
    repairs = [
        [runbook.procedure(s.use, s.name) for s in steps if s.kind == "change" and s.use == "Solution"]
        for steps in build_solutions(runbook)
    ]
    steps = max(1, min((sum(len(p.solution.changes) for p in each) for each in repairs), default=1))
    ways = [*causes, *(end for e in edges for end in (e.from_, e.to))]
    technologies = max(1, len({_find_technology(runbook.app, entity) for entity in ways}))
    value = round(compute_complexity(path, steps, technologies), 2)
    return Complexity(
        path=path, steps=steps, technologies=technologies, value=value, band=classify_complexity(value)
    )  # fmt: skip


def measure_loudness(result: TrialResult) -> dict[Reference, float]:
    """Return the total seconds of alerts on each entity, from injection to the end of hold."""
    assert result.history is not None
    start, end = result.injected_at or result.history.start, end_of_hold(result)
    heard: dict[Reference, float] = {}
    for timeline in result.history.timelines:
        if timeline.entity and timeline.fires_within(start, end):
            seconds = sum(max(0.0, min(i.end or end, end) - max(i.start, start)) for i in timeline.firing)
            heard[timeline.entity] = heard.get(timeline.entity, 0.0) + seconds
    return heard


def _compute_share(app: App, heard: dict[Reference, float], causes: Sequence[Reference]) -> float:
    """Return the probability that naming one of the entities with the highest score names a cause."""
    if not heard:
        return 0.0
    best = [e for e, score in heard.items() if score == max(heard.values())]
    return sum(any(is_same_thing(app, e, c) for c in causes) for e in best) / len(best)


def _rank(app: App, heard: dict[Reference, float], causes: Sequence[Reference]) -> float | None:
    """Return the rank of the loudest cause, from 1; ties share the mean of their ranks."""
    ranks = []
    for entity, score in heard.items():
        if any(is_same_thing(app, entity, c) for c in causes):
            louder = sum(other > score for other in heard.values())
            as_loud = sum(other == score for other in heard.values())
            ranks.append(louder + (as_loud + 1) / 2)
    return min(ranks, default=None)


def _find_longest_path(start: Reference, edges: Sequence[PropagationEdge], seen: tuple[Reference, ...] = ()) -> int:
    """Return the length of the longest path from an entity, ignoring cycles in invalid input."""
    ways = [e.to for e in edges if is_same_entity(e.from_, start) and e.to not in seen]
    return max((1 + _find_longest_path(end, edges, (*seen, start)) for end in ways), default=0)


def is_same_thing(app: App, one: Reference, other: Reference) -> bool:
    """Return whether two references name the same object, or parts of one component."""
    if is_same_entity(one, other):
        return True
    component = _find_component(app, one)
    return bool(component) and component == _find_component(app, other)


def _find_component(app: App, ref: Reference) -> str:
    for component in app.components:
        if component.workload.bare == ref.bare or (ref.kind == "Service" and ref.name == component.service):
            return component.name
    return ""


def _find_technology(app: App, entity: Reference) -> str:
    """Return the technology of an entity: the name of a store, queue or flag service, else the kind."""
    component = app.component(_find_component(app, entity)) if _find_component(app, entity) else None
    if component is not None and component.role in ("Store", "Queue", "Flags"):
        return component.name
    return entity.kind
