"""Which parts of a platform a trial rests on, and whether a cluster has them. Pure.

``doctor --context`` and the operator's ``Accepted`` tell the same judgement. A part that a trial does not use may be
missing or broken: it says nothing about the scenario.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal

from scenario_kit.load.rules import build_finding
from scenario_kit.model import Change, Check, Finding, Runbook, TrialStep, Value
from scenario_kit.model.chaos.kinds import GROUP
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.model.runtime.cluster_facts import ChaosFacts, MetricsFacts

#: Steps that read alerts or traffic.
_MEASURING: Final = (
    "expectQuiet", "expectAlerts", "hold", "expectStillFiring", "expectCleared", "expectUnresolved",
)  # fmt: skip


#: Series of kube-state-metrics, in an expression.
_KUBE_STATE: Final = re.compile(r"\bkube_[a-z]")
#: A scrape more or less falls into the window in which they are counted.
_TOLERANCE: Final = 1.1
_PLATFORM: Final = "see docs/install.md, What a cluster needs"
#: What may lack only because nothing was scraped yet.
_YOUNG: Final = f"if Prometheus was installed just now, try again in a minute; otherwise {_PLATFORM}"


class PlatformNeeds(Value, frozen=True, kw_only=True):
    """What a trial needs besides the API server: an injector of ``chaos``, and the ``metrics`` of Prometheus.

    ``kube_state``: an alert that must fire reads series of kube-state-metrics.
    """

    chaos: bool = True
    metrics: bool = True
    kube_state: bool = False


#: The field of ``PlatformNeeds`` that a part is for; empty where a scenario can do without it.
PlatformNeed = Literal["", "chaos", "metrics", "kube_state"]


class PlatformCheck(Value, frozen=True, kw_only=True):
    """One part of a platform: whether it is ``fine``, what was observed, what fixes it, and who needs it."""

    name: str
    fine: bool
    observed: str
    fix: str = ""
    need: PlatformNeed = ""


def judge_chaos(facts: ChaosFacts) -> PlatformCheck:
    """Judge Chaos Mesh, which may be absent: faults that need it require a capability."""
    if not facts.image:
        return PlatformCheck(name="chaos mesh", fine=True, observed="not installed; faults of it are refused (SK911)")
    others = facts.runtimes - {facts.daemon_runtime}
    if facts.daemon_runtime and others:
        observed = f"its daemon expects {facts.daemon_runtime}, nodes run {', '.join(sorted(others))}"
        fix = f"helm upgrade chaos-mesh --set chaosDaemon.runtime={min(others)} --reuse-values ..."
        return PlatformCheck(name="chaos mesh", fine=False, observed=observed, fix=fix, need="chaos")
    return PlatformCheck(name="chaos mesh", fine=True, observed=facts.image, need="chaos")


def judge_metrics(facts: MetricsFacts) -> list[PlatformCheck]:
    """Judge what a Prometheus has.

    Span metrics come with the collector of an app, so that a cluster in which none has run yet has none.
    """
    series: tuple[tuple[str, bool, str, PlatformNeed], ...] = (
        ("kube-state series", facts.kube_state, "kube_pod_info", "kube_state"),
        ("span metrics", facts.spans, "traces_span_metrics_calls_total", ""),
        ("label namespace", facts.namespaced, 'up{namespace!=""}', ""),
    )
    fix = _YOUNG if facts.interval is None else _PLATFORM
    return [_judge_interval(facts.interval), *(_judge_series(*each, fix) for each in series)]


def _judge_interval(interval: float | None) -> PlatformCheck:
    if interval is None:
        observed = "it has no target that it has scraped for five minutes"
        return PlatformCheck(name="prometheus", fine=False, observed=observed, fix=_YOUNG)
    observed = f"most targets are scraped every {interval:.0f} s"
    if interval > GRID_SECONDS * _TOLERANCE:
        expected = f"{observed}; alerts expect {GRID_SECONDS}"
        return PlatformCheck(
            name="prometheus", fine=False, observed=expected, fix="scrape_interval: 15s", need="metrics"
        )
    return PlatformCheck(name="prometheus", fine=True, observed=observed, need="metrics")


def _judge_series(name: str, exists: bool, series: str, need: PlatformNeed, fix: str) -> PlatformCheck:
    if exists:
        return PlatformCheck(name=name, fine=True, observed=series, need=need)
    return PlatformCheck(name=name, fine=False, observed=f"no series {series}", fix=fix, need=need)


def report_platform_lacks(checks: Iterable[PlatformCheck], needs: PlatformNeeds, environment: str) -> list[Finding]:
    """Report SK911 for each part that is not fine and that a trial needs; the scenario is not to blame."""
    return [
        build_finding(
            "SK911",
            message=f"the scenario needs {each.name}, which is not as needed in {environment}: {each.observed}",
            observed=each.observed,
            why="this environment cannot run the scenario; the scenario is not at fault",
            fix=each.fix,
        )
        for each in checks
        if not each.fine and each.need and getattr(needs, each.need)
    ]


def find_platform_needs(runbook: Runbook, steps: Iterable[TrialStep]) -> PlatformNeeds:
    """Find what the steps of a trial need for a runbook.

    Chaos Mesh is needed if a fault, a procedure, noise or the app itself has an object of it, Prometheus if a step
    reads alerts or traffic, or a check has a query.
    """
    changes = tuple(_list_changes(runbook))
    objects = (*runbook.objects, *(m for c in changes if (m := c.operation.manifest)))
    named = (c.operation.ref for c in changes)
    chaos = any(str(o.get("apiVersion")).startswith(f"{GROUP}/") for o in objects)
    chaos = chaos or any(ref is not None and ref.group == GROUP for ref in named)
    queries = any(check.query is not None for check in _list_checks(runbook, changes))
    measures = any(step.kind in _MEASURING for step in steps)
    return PlatformNeeds(chaos=chaos, metrics=queries or measures, kube_state=measures and _reads_kube_state(runbook))


def _reads_kube_state(runbook: Runbook) -> bool:
    must_fire = {alert.name for alert in runbook.expect.alerts if alert.alert_class == "MustFire"}
    return any(_KUBE_STATE.search(rule.expr) for rule in runbook.rules if rule.name in must_fire)


def _list_changes(runbook: Runbook) -> Iterator[Change]:
    for fault in runbook.faults:
        yield from (*fault.changes, *fault.undo)
    for procedure in runbook.procedures:
        yield from procedure.solution.changes
    for source in runbook.noise:
        yield from source.changes


def _list_checks(runbook: Runbook, changes: Iterable[Change]) -> Iterator[Check]:
    for fault in runbook.faults:
        yield from (*fault.effect, *fault.undone)
    yield from runbook.expect.checks
    yield from (change.until.check for change in changes if change.until is not None)
