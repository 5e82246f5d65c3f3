"""Which object each baseline blames. Pure: observation → names as ``Kind/name``, the first one blamed most."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Final

from scenario_kit.solver.baselines.observation import Observation, SeenAlert

#: Probability that the walk goes on instead of starting again (Page et al. 1998), and its rounds.
DAMPING: Final = 0.85
ROUNDS: Final = 100
#: Weight of a call of which no span failed, beside those of which some did.
_UNSUSPECTED: Final = 0.05


def rank_by_loudness(seen: Observation) -> list[str]:
    """Rank workloads by how many alerts fire on them; of equals, the one that began first."""
    firing = [(name, alert) for name, alert in _attribute_alerts(seen) if alert.firing]
    counts = Counter(name for name, _ in firing)
    first = {name: min(a.since for n, a in firing if n == name) for name in counts}
    return sorted(counts, key=lambda name: (-counts[name], first[name], name))


def rank_by_onset(seen: Observation) -> list[str]:
    """Rank workloads by when their first alert began to be active."""
    first: dict[str, str] = {}
    for name, alert in _attribute_alerts(seen):
        first[name] = min(alert.since, first.get(name, alert.since))
    return sorted(first, key=lambda name: (first[name], name))


def rank_by_change(seen: Observation) -> list[str]:
    """Rank objects by when they were last written, the newest first."""
    ordered = sorted(seen.objects, key=lambda each: (each.kind, each.name))
    return [f"{each.kind}/{each.name}" for each in sorted(ordered, key=lambda each: each.written, reverse=True)]


def rank_by_spectrum(seen: Observation) -> list[str]:
    """Rank services by Ochiai's coefficient over traces: failing ones that touch a service, against those that do not.

    A trace fails where any span of it does; it covers a service that has a failed span in it, or (in a trace that does
    not fail) any span. Source: Abreu, Zoeteweij, van Gemund, "On the Accuracy of Spectrum-based Fault Localization",
    2007: n11 / sqrt((n11 + n01) (n11 + n10)).
    """
    touched: dict[str, dict[str, bool]] = defaultdict(dict)
    for span in seen.spans:
        touched[span.trace][span.service] = touched[span.trace].get(span.service, False) or span.failed
    failing = sum(any(services.values()) for services in touched.values())
    in_failing: Counter[str] = Counter()
    in_passing: Counter[str] = Counter()
    for services in touched.values():
        if any(services.values()):
            in_failing.update(name for name, failed in services.items() if failed)
        else:
            in_passing.update(services.keys())
    scores = {
        name: count / math.sqrt(failing * (count + in_passing[name])) for name, count in in_failing.items() if failing
    }
    return _name_workloads(seen, scores)


def rank_by_random_walk(seen: Observation) -> list[str]:
    """Rank services by a random walk with restart on the call graph, from those with alerts to what they call.

    A call is followed the more often, the larger the share of failed spans of the service that is called. Source of the
    walk: Page, Brin, Motwani, Winograd, "The PageRank Citation Ranking", 1998, personalised by the alerts, as in Kim,
    Sumbaly, Shah, "Root Cause Detection in a Service-Oriented Architecture", 2013.
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
    """Go one step; whoever calls nobody stays where it is."""
    after = {name: (1 - DAMPING) * share for name, share in start.items()}
    for name, share in at.items():
        callees = follow.get(name) or {name: 1.0}
        weight = sum(callees.values())
        for callee, part in callees.items():
            after[callee] += DAMPING * share * part / weight
    return after


def _weigh_calls(seen: Observation) -> dict[str, dict[str, float]]:
    spans = Counter(span.service for span in seen.spans)
    failed = Counter(span.service for span in seen.spans if span.failed)
    follow: dict[str, dict[str, float]] = defaultdict(dict)
    for call in seen.calls:
        if call.caller != call.callee:
            follow[call.caller][call.callee] = _UNSUSPECTED + failed[call.callee] / max(spans[call.callee], 1)
    return follow


def _attribute_alerts(seen: Observation) -> list[tuple[str, SeenAlert]]:
    """List alerts with the workload that each is about; those that name none are left out."""
    return [(name, alert) for alert in seen.alerts if (name := seen.find_workload(alert.labels))]


def _name_workloads(seen: Observation, scores: Mapping[str, float]) -> list[str]:
    """Name services by their workloads, the highest score first; what has no workload of its name is left out."""
    known = seen.workloads
    ordered = sorted(scores, key=lambda name: (-scores[name], name))
    return [known[name] for name in ordered if name in known and scores[name] > 0]
