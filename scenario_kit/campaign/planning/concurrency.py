"""How many trials of a scenario may share a cluster at once. Pure.

Trials keep to namespaces of their own, so that many of them run side by side. What belongs to the whole cluster (a
node, a priority class, the name server) they cannot keep to themselves: another trial would meet the fault there, trip
over an object of the same name, and find the cluster changed when it compares it with how it was before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from scenario_kit.model import Change, Object, Runbook
from scenario_kit.model.chaos.kinds import get_experiment
from scenario_kit.model.kubernetes.pod_resources import sum_pod_requests
from scenario_kit.model.results.trial import ALONE_LABEL
from scenario_kit.render.apps.app import CLUSTER_KINDS

#: More pods than these, or more cores, that one change asks for leave other trials of a cluster too little room.
_MOST_PODS: Final = 20
_MOST_CORES: Final = 4.0
#: The kind of experiment that tells the cluster's one chaos name server what to answer.
_NAMES: Final = "DNSChaos"


def limit_concurrency(runbook: Runbook, parallel: int) -> int:
    """Return how many of ``parallel`` trials may run beside each other: one, where any of them reaches beyond its
    app.
    """
    return 1 if runs_alone(runbook) else parallel


def runs_alone(runbook: Runbook) -> bool:
    """Return whether a trial reaches beyond its app, so that nothing may run beside it, or takes the room of others."""
    if any(fault.scope == "Cluster" for fault in runbook.faults):
        return True
    own = {"", "app", *runbook.namespaces, *runbook.everywhere}
    each = {(o["kind"], o["metadata"]["name"]): _count_cores(o) for o in runbook.objects}
    return any(_leaves_app(change, own) or _needs_many_pods(change, each) for change in _changes(runbook))


def _needs_many_pods(change: Change, each: Mapping[tuple[str, str], float]) -> bool:
    """Return whether a change asks for so many pods that others may find no room.

    ``each`` is what one pod of a workload, by kind and name, asks for in cores.
    """
    replicas = change.operation.count_replicas()
    if (body := change.operation.resource) is not None:
        cores = _count_cores(body)
    else:
        cores = each.get(change.operation.about(None) or ("", ""), 0.0)
    return replicas > _MOST_PODS or (replicas > 1 and replicas * cores > _MOST_CORES)


def _count_cores(obj: Object) -> float:
    template = (obj.get("spec") or {}).get("template") or {}
    return sum_pod_requests(template.get("spec") or {}).get("cpu", 0.0)


def build_labels(runbook: Runbook) -> dict[str, str]:
    """Build what a trial carries so that others know whether they may run beside it."""
    return {ALONE_LABEL: "true"} if runs_alone(runbook) else {}


def find_blocking_trial(runbook: Runbook, others: Iterable[Object]) -> str:
    """Find why no trial of this scenario may begin beside other Trial objects; empty where one may."""
    beyond = runs_alone(runbook)
    going = sorted(t["metadata"]["name"] for t in others if _is_running(t) and (beyond or _is_exclusive(t)))
    if not going:
        return ""
    names = f"{going[0]} and {len(going) - 1} more" if len(going) > 1 else going[0]
    if beyond:
        return f"the scenario reaches beyond its app, so it waits for the trials of others to end: {names}"
    return f"a trial that reaches beyond its app is under way, and nothing begins beside it: {names}"


def _is_running(trial: Object) -> bool:
    return not (trial.get("status") or {}).get("outcome") or bool(trial["metadata"].get("deletionTimestamp"))


def _is_exclusive(trial: Object) -> bool:
    return ALONE_LABEL in (trial["metadata"].get("labels") or {})


def _changes(runbook: Runbook) -> Iterator[Change]:
    for fault in runbook.faults:
        yield from fault.changes
    for procedure in runbook.procedures:
        yield from procedure.solution.changes


def _leaves_app(change: Change, own: set[str]) -> bool:
    if change.operation.experiment is not None:
        # The name server of Chaos Mesh knows an experiment by its name alone, which all trials of a scenario share: the
        # end of one takes away what it was told for another.
        return get_experiment(change.operation.experiment)[0] == _NAMES
    body = change.operation.resource
    if body is not None:
        return body["kind"] in CLUSTER_KINDS or body.get("metadata", {}).get("namespace", "") not in own
    ref = change.operation.ref
    return ref is not None and (ref.kind in CLUSTER_KINDS or ref.namespace not in own)
