"""Summarise the repeats of a campaign: how many held, when alerts fired, how far they agree. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf, isfinite
from typing import Final

from scenario_kit.campaign.planning.sequential_test import Look, estimate_effective_size, find_refuted_rate, lower_bound
from scenario_kit.campaign.results import repeatability
from scenario_kit.campaign.results.result import AlertSummary, OrderSummary, PassageSummary, Statistics, TrialResult
from scenario_kit.judge.alerts.expectations import is_declared, is_same_entity, list_by_class, select_timelines
from scenario_kit.judge.alerts.incident_alerts import measure_delay
from scenario_kit.judge.alerts.propagation_traffic import find_traces, has_enough_requests, pool_passages
from scenario_kit.model import Reference
from scenario_kit.model.authored.alert_rule import name_alert
from scenario_kit.model.authored.scenario import Expect, PropagationEdge
from scenario_kit.model.results.purpose import is_repeat
from scenario_kit.observe.symptoms import is_about

#: Scrape plus evaluation interval in seconds: the resolution of onsets.
TICK: Final = 30.0


def summarise(
    looks: Sequence[Look], results: Iterable[TrialResult], expect: Expect, edges: Iterable[PropagationEdge]
) -> Statistics:
    """Compute the statistics of all ended repeats; alerts count from injection to the end of hold."""
    repeats = [r for r in results if is_repeat(r.purpose)]
    valid = [r for r in repeats if r.outcome in ("Held", "Broken")]
    if not valid:
        return Statistics(n=0, broken=0, infra=len(repeats), claims=find_refuted_rate(looks))
    seen = [r for r in valid if r.history is not None and r.injected_at is not None]
    onsets = [_find_onsets(r) for r in seen]
    broken = sum(r.outcome == "Broken" for r in valid)
    return Statistics(
        n=len(valid),
        broken=broken,
        infra=len(repeats) - len(valid),
        at_least=lower_bound(len(valid), broken),
        claims=find_refuted_rate(looks),
        effective=estimate_effective_size([len(valid)]),
        similarity=_measure_similarity(seen, onsets, expect),
        placements=len({tuple(r.placement.items()) for r in valid if r.placement}),
        alerts=tuple(_summarise_alerts(seen, onsets, expect)),
        order=tuple(_order(seen, edges)),
        passages=tuple(_summarise_passages(seen)),
    )


def _measure_similarity(
    seen: Sequence[TrialResult], onsets: Sequence[dict[str, float]], expect: Expect
) -> float | None:
    """Return the similarity of the repeats' alerts, without optional ones, which may be missing."""
    optional = {
        name_alert(timeline)
        for result in seen
        if result.history is not None
        for timeline in result.history.timelines
        if is_declared(expect, timeline)
        and not any(select_timelines(e, [timeline]) for e in list_by_class(expect, "MustFire"))
    }
    return repeatability.compute_jaccard([frozenset(times) - optional for times in onsets]) if len(seen) > 1 else None


def end_of_hold(result: TrialResult) -> float:
    """Return the end of the hold step, else the end of the evidence."""
    assert result.history is not None
    held = [s.finished_at for s in result.steps if s.kind == "hold" and s.finished_at is not None]
    return held[0] if held else result.history.end


def _find_onsets(result: TrialResult) -> dict[str, float]:
    """Return the seconds from injection to each alert's onset, by label."""
    assert result.history is not None
    assert result.injected_at is not None
    found: dict[str, float] = {}
    for timeline in result.history.timelines:
        onset = timeline.onset(result.injected_at)
        if onset is not None and onset <= end_of_hold(result):
            found[name_alert(timeline)] = min(found.get(name_alert(timeline), inf), onset - result.injected_at)
    return found


def _summarise_alerts(
    repeats: Sequence[TrialResult], onsets: Sequence[dict[str, float]], expect: Expect
) -> list[AlertSummary]:
    rows = []
    covered: set[str] = set()
    for expectation in list_by_class(expect, "MustFire"):
        times = []
        for repeat, seen in zip(repeats, onsets, strict=True):
            assert repeat.history is not None
            names = {name_alert(t) for t in select_timelines(expectation, repeat.history.timelines)}
            covered |= names
            onset = min((t for n, t in seen.items() if n in names), default=inf)
            times.append(max(0.0, onset - measure_delay(repeat.injections, expectation.after)))
        rows.append(_build_row(name_alert(expectation), "MustFire", times, expectation.within_seconds))
    others = {name for seen in onsets for name in seen} - covered
    known = {name_alert(t): is_declared(expect, t) for r in repeats if r.history for t in r.history.timelines}
    for name in sorted(others):
        times = [seen.get(name, inf) for seen in onsets]
        rows.append(_build_row(name, "MayFire" if known.get(name) else "undeclared", times, None))
    return rows


def _build_row(name: str, declared_as: str, times: Sequence[float], within: int | None) -> AlertSummary:
    if not times:
        return AlertSummary(alert=name, declared=declared_as, fired=0, n=0, within_seconds=within)
    seen = repeatability.summarise_onsets(times)
    return AlertSummary(
        alert=name,
        declared=declared_as,
        fired=seen.fired,
        n=seen.n,
        median_seconds=_keep_finite(seen.median),
        p95_seconds=_keep_finite(seen.p95),
        within_seconds=within,
        proposed_seconds=_keep_finite(seen.budget),
        proposal="MayFire" if declared_as == "MustFire" and 0 < seen.fired < seen.n else "",
    )


def _keep_finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _order(repeats: Sequence[TrialResult], edges: Iterable[PropagationEdge]) -> list[OrderSummary]:
    """Compare the onsets of the same rule on both ends of edges: rules differ in delay by minutes."""
    rows = []
    for edge in edges:
        for rule in sorted(_list_rules(repeats, edge.from_) & _list_rules(repeats, edge.to)):
            ends = (edge.from_, edge.to)
            before, after = ([find_first_onset(r, end, end_of_hold(r), rule) for r in repeats] for end in ends)
            if any(map(isfinite, before)) and any(map(isfinite, after)):
                rows.append(
                    OrderSummary(from_=edge.from_, to=edge.to, share=repeatability.measure_order(before, after, TICK))
                )
    return rows


def _summarise_passages(repeats: Sequence[TrialResult]) -> list[PassageSummary]:
    """Summarise the components without an alert in any repeat."""
    rows = []
    for entity in dict.fromkeys(p.entity for r in repeats for p in r.passages):
        its = [p for r in repeats for p in r.passages if p.entity == entity]
        if len(its) == len(repeats):
            whole = pool_passages(its)
            reported = Counter(s for r in repeats for s in set(r.signs) if is_about(s, entity))
            signs = sorted(s for s, times in reported.items() if 2 * times > len(repeats))
            rows.append(
                PassageSummary(
                    entity=entity,
                    n=len(its),
                    requests=round(whole.before.requests) if has_enough_requests(whole) else 0,
                    traces=tuple(str(trace) for trace in find_traces(whole)),
                    signs=tuple(signs),
                )
            )
    return rows


def _list_rules(repeats: Sequence[TrialResult], entity: Reference) -> set[str]:
    """Return the alerts that fired on an entity in any repeat."""
    lines = (t for r in repeats if r.history for t in r.history.timelines)
    return {t.name for t in lines if t.entity and is_same_entity(entity, t.entity)}


def find_first_onset(result: TrialResult, entity: Reference, until: float = inf, rule: str = "") -> float:
    """Return the seconds from injection to the first onset on an entity; infinite if there is none ``until`` then.

    With ``rule``, only that alert counts.
    """
    if result.history is None or result.injected_at is None:
        return inf
    times = [
        onset - result.injected_at
        for t in result.history.timelines
        if t.entity and is_same_entity(entity, t.entity) and rule in ("", t.name)
        if (onset := t.onset(result.injected_at)) is not None and onset <= until
    ]
    return min(times, default=inf)
