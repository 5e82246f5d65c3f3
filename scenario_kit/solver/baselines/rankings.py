"""The rankings of the baselines. Pure: observation → objects as ``Kind/name``, most suspicious first."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from scenario_kit.solver.baselines.observation import Observation, SeenAlert, SeenSpan

#: Damping factor of the random walk (Page et al. 1998) and number of iterations.
DAMPING: Final = 0.85
ROUNDS: Final = 100
#: Base weight of a call edge without failed spans.
_BASE_WEIGHT: Final = 0.05


def rank_by_loudness(seen: Observation) -> list[str]:
    """Rank workloads by their number of firing alerts; ties by the earliest alert."""
    firing = [(name, alert) for name, alert in _attribute_alerts(seen) if alert.firing]
    counts = Counter(name for name, _ in firing)
    first = {name: min(a.since for n, a in firing if n == name) for name in counts}
    return sorted(counts, key=lambda name: (-counts[name], first[name], name))


def rank_by_onset(seen: Observation) -> list[str]:
    """Rank workloads by the onset of their first alert."""
    first: dict[str, str] = {}
    for name, alert in _attribute_alerts(seen):
        first[name] = min(alert.since, first.get(name, alert.since))
    return sorted(first, key=lambda name: (first[name], name))


def rank_by_change(seen: Observation) -> list[str]:
    """Rank objects by their last write, newest first."""
    ordered = sorted(seen.objects, key=lambda each: (each.kind, each.name))
    return [f"{each.kind}/{each.name}" for each in sorted(ordered, key=lambda each: each.written, reverse=True)]


def rank_by_spectrum(seen: Observation) -> list[str]:
    """Rank services by the Ochiai coefficient over failing and passing traces.

    A trace fails if any of its spans failed. A failing trace covers the origins of its failure, a passing trace all
    services in it and those that they call. Source: Abreu, Zoeteweij, van Gemund, "On the Accuracy of Spectrum-based
    Fault Localization", 2007: n11 / sqrt((n11 + n01) (n11 + n10)).
    """
    traces: dict[str, list[SeenSpan]] = defaultdict(list)
    for span in seen.spans:
        traces[span.trace].append(span)
    failing = 0
    in_failing: Counter[str] = Counter()
    in_passing: Counter[str] = Counter()
    for spans in traces.values():
        if any(span.failed for span in spans):
            failing += 1
            in_failing.update(_find_origins(spans))
        else:
            in_passing.update({name for span in spans for name in (span.service, _name_peer(span)) if name})
    scores = {name: count / math.sqrt(failing * (count + in_passing[name])) for name, count in in_failing.items()}
    return _name_workloads(seen, scores)


def _find_origins(spans: Sequence[SeenSpan]) -> set[str]:
    """Find the services at which the failure of a trace began: failed spans of which no child failed.

    A failed call without a failed child began at the callee, which may be unable to report spans.
    """
    parents = {span.parent for span in spans if span.failed and span.parent}
    return {_name_peer(span) or span.service for span in spans if span.failed and span.span not in parents}


def _name_peer(span: SeenSpan) -> str:
    """Return the service that a span calls: the first label of the host name."""
    return span.peer.partition(".")[0]


def rank_by_random_walk(seen: Observation) -> list[str]:
    """Rank services by a random walk with restart on the call graph, from alerting services to their callees.

    The weight of a call grows with the callee's share of failed spans. Source: Page, Brin, Motwani, Winograd, "The
    PageRank Citation Ranking", 1998, personalised by the alerts, as in Kim, Sumbaly, Shah, "Root Cause Detection in a
    Service-Oriented Architecture", 2013.
    """
    restart = Counter(name.partition("/")[2] for name, alert in _attribute_alerts(seen) if alert.firing)
    follow = _weigh_calls(seen)
    nodes = sorted({*restart, *follow, *(callee for callees in follow.values() for callee in callees)})
    total = sum(restart[name] for name in nodes)
    if not total:
        return []
    start = {name: restart[name] / total for name in nodes}
    at = dict(start)
    for _ in range(ROUNDS):
        at = _walk_once(at, start, follow)
    return _name_workloads(seen, at)


def _walk_once(
    at: Mapping[str, float], start: Mapping[str, float], follow: Mapping[str, Mapping[str, float]]
) -> dict[str, float]:
    """Take one step of the walk; a service without callees keeps its share."""
    after = {name: (1 - DAMPING) * share for name, share in start.items()}
    for name, share in at.items():
        callees = follow.get(name) or {name: 1.0}
        weight = sum(callees.values())
        for callee, edge in callees.items():
            after[callee] += DAMPING * share * edge / weight
    return after


def _weigh_calls(seen: Observation) -> dict[str, dict[str, float]]:
    spans = Counter(span.service for span in seen.spans)
    failed = Counter(span.service for span in seen.spans if span.failed)
    follow: dict[str, dict[str, float]] = defaultdict(dict)
    for call in seen.calls:
        if call.caller != call.callee:
            follow[call.caller][call.callee] = _BASE_WEIGHT + failed[call.callee] / max(spans[call.callee], 1)
    return follow


def _attribute_alerts(seen: Observation) -> list[tuple[str, SeenAlert]]:
    """List alerts with the workloads they name; alerts that name none are left out."""
    return [(name, alert) for alert in seen.alerts if (name := seen.find_workload(alert.labels))]


def _name_workloads(seen: Observation, scores: Mapping[str, float]) -> list[str]:
    """Map services to workloads of the same name, highest score first; others are left out."""
    known = seen.workloads
    ordered = sorted(scores, key=lambda name: (-scores[name], name))
    return [known[name] for name in ordered if name in known and scores[name] > 0]
