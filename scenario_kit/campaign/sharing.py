"""How many trials of a scenario may share a cluster at once. Pure.

Trials keep to namespaces of their own, so that many of them run side by side. What belongs to the whole cluster (a
node, a priority class, the name server) they cannot keep to themselves: another trial would meet the fault there, trip
over an object of the same name, and find the cluster changed when it compares it with how it was before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from scenario_kit.model import Change, Object, Reference, Runbook
from scenario_kit.model.chaos import experiment
from scenario_kit.model.trial import ALONE_LABEL
from scenario_kit.render.app import CLUSTER_KINDS

#: The kind of experiment that tells the cluster's one chaos name server what to answer.
_NAMES: Final = "DNSChaos"


def at_once(runbook: Runbook, parallel: int) -> int:
    """Of ``parallel`` trials, how many may run beside each other: one, where any of them reaches beyond its app."""
    return 1 if alone(runbook) else parallel


def alone(runbook: Runbook) -> bool:
    """Whether a trial reaches beyond its app, so that nothing may run beside it."""
    if any(fault.scope == "Cluster" for fault in runbook.faults):
        return True
    own = {"", "app", *runbook.namespaces, *runbook.everywhere}
    return any(_beyond(change, own) for change in _changes(runbook))


def labels(runbook: Runbook) -> dict[str, str]:
    """What a trial carries so that others know whether they may run beside it."""
    return {ALONE_LABEL: "true"} if alone(runbook) else {}


def in_the_way(runbook: Runbook, others: Iterable[Object]) -> str:
    """Why no trial of this scenario may begin beside other Trial objects; empty where one may."""
    beyond = alone(runbook)
    going = sorted(t["metadata"]["name"] for t in others if _under_way(t) and (beyond or _alone(t)))
    if not going:
        return ""
    names = f"{going[0]} and {len(going) - 1} more" if len(going) > 1 else going[0]
    if beyond:
        return f"the scenario reaches beyond its app, so it waits for the trials of others to end: {names}"
    return f"a trial that reaches beyond its app is under way, and nothing begins beside it: {names}"


def _under_way(trial: Object) -> bool:
    return not (trial.get("status") or {}).get("outcome") or bool(trial["metadata"].get("deletionTimestamp"))


def _alone(trial: Object) -> bool:
    return ALONE_LABEL in (trial["metadata"].get("labels") or {})


def _changes(runbook: Runbook) -> Iterator[Change]:
    for fault in runbook.faults:
        yield from fault.changes
    for procedure in runbook.procedures:
        yield from procedure.solution.changes


def _beyond(change: Change, own: set[str]) -> bool:
    if change.chaos is not None:
        # The name server of Chaos Mesh knows an experiment by its name alone, which all trials of a scenario share: the
        # end of one takes away what it was told for another.
        return experiment(change.chaos)[0] == _NAMES
    body = change.create or change.apply
    if body is not None:
        return body["kind"] in CLUSTER_KINDS or body.get("metadata", {}).get("namespace", "") not in own
    if change.target is None:
        return False
    ref = Reference.parse(change.target)
    return ref.kind in CLUSTER_KINDS or ref.namespace not in own
