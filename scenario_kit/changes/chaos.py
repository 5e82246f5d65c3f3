"""Chaos objects, bound to the pods of a workload and rebound when those are replaced (docs/architecture.md).

Chaos Mesh selects pods only once: new pods are not injected although ``AllInjected`` stays True. So the author's
label selector is resolved to explicit pods, which the receipt records, and ``has_uncovered_pods`` decides when the
object must be replaced.

A ``Schedule`` selects pods each time it starts an experiment, so it keeps its labels and is never bound.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from scenario_kit.errors import AuthoringError
from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding, Object, Reference
from scenario_kit.model.chaos.kinds import GROUP, ONE_SHOT, SCHEDULE, get_experiment, list_sides, read_duration
from scenario_kit.model.chaos.pod_selector import count, parse_selector
from scenario_kit.model.chaos.reach import list_namespaces
from scenario_kit.model.kubernetes.status import is_terminating, rank_by_age
from scenario_kit.ports import Cluster

#: A daemon's response in a record of the manager (a gRPC status as printed by Go).
_GRPC_ERROR: Final = re.compile(r"rpc error: code = (\w+) desc = (.*)", re.DOTALL)
#: Errors of the connection to a daemon or the API server, unrelated to the object's content.
_TRANSPORT: Final = re.compile(
    r"\bdial\b|transport|connection (?:refused|reset)|i/o timeout|deadline exceeded|failed calling webhook|etcdserver"
    r"|cannot find daemonIP|code = (?:Unavailable|DeadlineExceeded|Canceled|Unauthenticated|PermissionDenied)",
    re.IGNORECASE,
)
#: Errors about an object's content, as worded by Go, the manager and its helpers.
_CONTENT: Final = re.compile(
    r"no such host|\bparse \w+|unable to parse|cannot parse|: parsing |time: (?:invalid|missing|unknown)|invalid syntax"
    r"|invalid (?:unit|value|duration)|unknown action|\bnot support(?:ed)?\b|Invalid params|path is the root"
    r"|__chaosfs__|is no (?:duration|rate)|must be (?:one of|greater|less|between)",
    re.IGNORECASE,
)


def make_reference(obj: Object) -> Reference:
    """Return the reference of a chaos object."""
    metadata = obj["metadata"]
    return Reference(obj["kind"], metadata["name"], metadata.get("namespace", ""), GROUP)


def lasts_until_deleted(obj: Object) -> bool:
    """Return whether the fault lasts until the object is deleted."""
    return obj.get("kind") != SCHEDULE and get_experiment(obj).spec.get("action") not in ONE_SHOT


def parse_experiment_duration(obj: Object) -> float | None:
    """Return the duration of an experiment in seconds; None if it has none, or it cannot be parsed.

    A Schedule has none: it starts its experiment again and again.
    """
    if obj.get("kind") == SCHEDULE or not str(obj.get("apiVersion")).startswith(f"{GROUP}/"):
        return None
    return read_duration(get_experiment(obj).spec)


class SelectedPods(NamedTuple):
    """Live pods of an experiment: its targets, and its remote peers (None: any)."""

    targets: list[Object]
    peers: list[Object] | None = None

    @property
    def empty(self) -> bool:
        """Whether one of the sides has no pod; Chaos Mesh then injects neither."""
        return not self.targets or self.peers == []

    @property
    def pods(self) -> list[Object]:
        """The pods of both sides."""
        return [*self.targets, *(self.peers or ())]


def choose_pods(cluster: Cluster, obj: Object, default_namespace: str) -> SelectedPods:
    """Choose the live pods that an experiment currently selects.

    Raises:
        AuthoringError: Chaos Mesh cannot read a selector.
    """
    home = obj["metadata"].get("namespace", default_namespace)
    spec = get_experiment(obj).spec
    targets, peers = list_sides(spec)
    found = _limit_pods(spec, select(cluster, targets, home))
    return SelectedPods(found, None if peers is None else _limit_pods(spec["target"], select(cluster, peers, home)))


def list_chaos_selecting(cluster: Cluster, namespace: str, *, at: str) -> list[Object]:
    """List chaos objects of a namespace that select pods of the namespace ``at``, hidden from its solvers."""
    kinds = [k for k in cluster.kinds() if k.group == GROUP and k.namespaced]
    children = [o for k in kinds for o in cluster.list(k.kind, namespace, group=GROUP)]
    return [o for o in children if at in list_namespaces(o)]


def list_experiments_of(cluster: Cluster, schedule: Reference, kind: str) -> list[Reference]:
    """List the existing experiments of a kind that a Schedule started, even if it was deleted."""
    found = cluster.list(kind, schedule.namespace, group=GROUP, labels={"managed-by": schedule.name})
    return [make_reference(o) for o in found]


def select(cluster: Cluster, selector: Mapping[str, Any], home: str) -> list[Object]:
    """List the live pods that match a selector, oldest first, without terminating ones.

    Raises:
        AuthoringError: Chaos Mesh cannot read the selector.
    """
    try:
        query = parse_selector(selector, home)
    except ValueError as error:
        raise AuthoringError(f"Chaos Mesh cannot read the selector: {error}", fix="correct the field") from error
    nodes = cluster.list("Node") if query.by_node else []
    if missing := query.missing_nodes(nodes):
        raise AuthoringError(f"the selector names a node that does not exist: {', '.join(missing)}")
    if query.names:
        named = [Reference("Pod", name, namespace) for namespace, names in query.names.items() for name in names]
        found = [pod for ref in named if (pod := cluster.get(ref))]
    else:
        # The API server matches labels; the other fields are matched here.
        labels = selector.get("labelSelectors") or {}
        listed = (pod for namespace in query.namespaces for pod in cluster.list("Pod", namespace, labels=labels))
        found = [pod for pod in listed if query.selects(pod, nodes)]
    alive = [
        p
        for p in found
        if not is_terminating(p)
        and (p.get("status") or {}).get("phase") in ("Running", "Pending")
        and (p.get("status") or {}).get("containerStatuses")
    ]
    return sorted(alive, key=rank_by_age)


def _limit_pods(side: Mapping[str, Any], pods: list[Object]) -> list[Object]:
    """Take the oldest pods up to the mode's number, for reproducible runs, since Chaos Mesh chooses randomly."""
    try:
        return pods[: count(str(side.get("mode", "")), str(side.get("value", "")), len(pods))]
    except ValueError as error:
        raise AuthoringError(f"Chaos Mesh cannot read {error}", fix="write a number that fits the mode") from error


def explain_empty_selection(name: str) -> tuple[str, tuple[Finding, ...]]:
    """Return message and finding for an experiment that selects no pod."""
    message = f"the selector of {name} matches no running pod"
    finding = build_finding(
        "SK111",
        message=message,
        observed="no running pod",
        expected="pods of the app, for every field of the selector",
        why="an experiment that selects no pod breaks nothing",
        fix="aim the fault at a workload that has pods",
    )
    return message, (finding,)


def bind(template: Object, pods: SelectedPods) -> Object:
    """Return the chaos object with its selectors replaced by exactly these pods (docs/fidelity.md).

    A Schedule keeps its selectors, but gets explicit namespaces: without Chaos Mesh's webhooks they would match all.
    """
    bound = copy.deepcopy(template)
    if bound["kind"] == SCHEDULE:
        spec = get_experiment(bound).spec
        for side in (spec, spec.get("target")):
            selector = side.get("selector") if isinstance(side, dict) else None
            if selector is not None and not selector.get("pods") and not selector.get("namespaces"):
                selector["namespaces"] = [bound["metadata"]["namespace"]]
    else:
        bound["spec"] |= _build_exact_selector(pods.targets)
        if pods.peers is not None:
            bound["spec"]["target"] |= _build_exact_selector(pods.peers)
    return bound


def _build_exact_selector(pods: Sequence[Object]) -> Object:
    by_namespace: dict[str, list[str]] = {}
    for pod in pods:
        by_namespace.setdefault(pod["metadata"]["namespace"], []).append(pod["metadata"]["name"])
    return {"mode": "all", "selector": {"namespaces": sorted(by_namespace), "pods": by_namespace}}


def list_covered(cluster: Cluster, bound: Object) -> tuple[str, ...]:
    """List the pods that a bound object covers, as ``identify_pods``; empty for a Schedule, which is never bound."""
    if bound["kind"] == SCHEDULE:
        return ()
    return identify_pods(choose_pods(cluster, bound, bound["metadata"].get("namespace", "")).pods)


def identify_pods(targets: Sequence[Object]) -> tuple[str, ...]:
    """Identify pods by UID and container IDs, as chaos is lost when either is replaced."""
    result = []
    for pod in targets:
        statuses = (pod.get("status") or {}).get("containerStatuses") or []
        result.append(f"{pod['metadata']['uid']}:" + ",".join(sorted(s.get("containerID", "") for s in statuses)))
    return tuple(sorted(result))


def has_uncovered_pods(obj: Object, before: Sequence[str], now: Sequence[str]) -> bool:
    """Return whether the object must be rebound to reach all pods.

    Network effects and pod-failure live in the pod and survive a container restart; stress, IO, HTTP, time and JVM
    effects die with the container (docs/fidelity.md).
    """
    if obj["kind"] in ("NetworkChaos", "PodChaos"):
        return not {i.split(":")[0] for i in now} <= {i.split(":")[0] for i in before}
    return not set(now) <= set(before)


def is_injected(live: Object) -> bool | None:
    """Return True once Chaos Mesh reports every record as Injected, None before. Necessary, but not sufficient.

    A Schedule reports nothing: its first experiment may be minutes away, and the effect checks wait for it.
    """
    if live["kind"] == SCHEDULE:
        return True
    experiment = (live.get("status") or {}).get("experiment") or {}
    records = experiment.get("containerRecords") or []
    if not records:
        return None
    done = all(r.get("phase") == "Injected" and r.get("injectedCount", 0) > r.get("recoveredCount", 0) for r in records)
    return True if done else None


def read_last_failure(live: Object) -> str:
    """Return the last failure that Chaos Mesh recorded, or empty."""
    records = ((live.get("status") or {}).get("experiment") or {}).get("containerRecords") or []
    for record in records:
        for event in reversed(record.get("events") or []):
            if event.get("type") == "Failed":
                return f"{record.get('id', '')}: {event.get('message', '')}"
    return ""


def parse_daemon_response(response: str) -> tuple[str, str]:
    """Parse a failure that is a daemon's response into gRPC code and message; both empty for other failures."""
    found = _GRPC_ERROR.search(response)
    return (found[1], found[2]) if found else ("", "")


def parse_content_error(response: str) -> str:
    """Return the failure if it objects to the object's content, else empty.

    A daemon uses the code InvalidArgument; the manager and the daemon's helpers only have messages.
    """
    code, words = parse_daemon_response(response)
    if code == "InvalidArgument":
        return words
    if code not in ("", "Unknown") or _TRANSPORT.search(response) or not _CONTENT.search(response):
        return ""
    return words or response
