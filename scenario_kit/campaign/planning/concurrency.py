"""Limit the number of parallel trials of a scenario in a cluster. Pure.

Trials have namespaces of their own, so that many can run in parallel. Cluster-scoped objects (a node, a priority class,
the name server) are shared: another trial would see the fault, conflict with an object of the same name, or find the
cluster changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from scenario_kit.model import Change, Object, Runbook
from scenario_kit.model.chaos.kinds import SCHEDULE, get_experiment
from scenario_kit.model.kubernetes.pod_resources import sum_pod_requests
from scenario_kit.model.kubernetes.pod_template import read_pod_spec
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.model.results.trial import ALONE_LABEL
from scenario_kit.model.shortening import shorten_list
from scenario_kit.render.apps.placement import CLUSTER_KINDS, list_shared

#: A change that requests more pods or cores leaves too little capacity for other trials.
_MOST_PODS: Final = 20
_MOST_CORES: Final = 4.0
#: The kind of experiment that configures the cluster's only chaos name server.
_NAMES: Final = "DNSChaos"


def limit_concurrency(runbook: Runbook, parallel: int) -> int:
    """Return how many of ``parallel`` trials may run at once: one if they reach beyond their app."""
    return 1 if runs_alone(runbook) else parallel


def runs_alone(runbook: Runbook) -> bool:
    """Return whether a trial reaches beyond its app, or needs too much capacity, so that it must run alone."""
    if any(fault.scope == "Cluster" for fault in runbook.faults):
        return True
    if list_shared(runbook.objects):
        return True
    own = {"", "app", *runbook.namespaces, *runbook.everywhere}
    each = {(o["kind"], o["metadata"]["name"]): _count_cores(o) for o in runbook.objects}
    return any(_leaves_app(change, own) or _needs_many_pods(change, each) for change in _changes(runbook))


def _needs_many_pods(change: Change, each: Mapping[tuple[str, str], float]) -> bool:
    """Return whether a change requests so many pods that other trials lack capacity.

    ``each`` is the CPU request of one pod of a workload, by kind and name.
    """
    replicas = change.operation.count_replicas()
    if (body := change.operation.resource) is not None:
        cores = _count_cores(body)
    else:
        cores = each.get(change.operation.about(None) or ("", ""), 0.0)
    return replicas > _MOST_PODS or (replicas > 1 and replicas * cores > _MOST_CORES)


def _count_cores(obj: Object) -> float:
    return sum_pod_requests(read_pod_spec(obj)).get("cpu", 0.0)


def build_labels(runbook: Runbook) -> dict[str, str]:
    """Return the labels by which other trials know whether they may run beside this one."""
    return {ALONE_LABEL: "true"} if runs_alone(runbook) else {}


def find_blocking_trial(runbook: Runbook, others: Iterable[Object]) -> str:
    """Explain why no trial of this scenario may start beside other Trials; empty if one may."""
    beyond = runs_alone(runbook)
    going = sorted(t["metadata"]["name"] for t in others if _is_running(t) and (beyond or _is_exclusive(t)))
    if not going:
        return ""
    names = shorten_list(going, 1)
    if beyond:
        return f"the scenario reaches beyond its app, so it waits for other trials to end: {names}"
    return f"a trial that reaches beyond its app is running, and must run alone: {names}"


def _is_running(trial: Object) -> bool:
    return not (trial.get("status") or {}).get("outcome") or is_terminating(trial)


def _is_exclusive(trial: Object) -> bool:
    return ALONE_LABEL in (trial["metadata"].get("labels") or {})


def _changes(runbook: Runbook) -> Iterator[Change]:
    for fault in runbook.faults:
        yield from fault.changes
    for procedure in runbook.procedures:
        yield from procedure.solution.changes


def _leaves_app(change: Change, own: set[str]) -> bool:
    if (experiment := change.operation.experiment) is not None:
        # The name server of Chaos Mesh identifies experiments by name, which all trials of a scenario share: the end of
        # one would affect another. So its manager does with what a Schedule has started, in whatever namespace
        # (controllers/schedule/utils/list.go): one trial's occurrence would prevent another's.
        return experiment["kind"] == SCHEDULE or get_experiment(experiment).kind == _NAMES
    body = change.operation.resource
    if body is not None:
        return body["kind"] in CLUSTER_KINDS or body.get("metadata", {}).get("namespace", "") not in own
    ref = change.operation.ref
    return ref is not None and (ref.kind in CLUSTER_KINDS or ref.namespace not in own)
