"""Placeholders that are resolved when a change is made: nodes, and free capacity on them.

Faults are rendered without a cluster. A fault that means "the node that these pods run on" writes a placeholder
in any text of a change or a check:

- ``node:host:<Kind>:<name>`` the worker node of the workload's first pod by name
- ``node:away:<Kind>:<name>`` the first other schedulable node by name
- ``node:all`` every schedulable node; only in ``Node/node:all``, as the target of an operation on nodes or of a check,
  which is then evaluated for each node
- ``room:<cpu|memory>:<Kind>:<name>`` a request that fits on that host only in place of a pod of the workload, and of
  all others that can run elsewhere

The first change that uses a placeholder resolves it; its receipt holds the result, which the rest of the trial
(undo, fix, solution, check) uses too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from scenario_kit.changes.workloads import list_pods
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Change, Check, Object, Reference
from scenario_kit.model.json_document import list_texts
from scenario_kit.model.kubernetes.pod_resources import sum_pod_requests
from scenario_kit.model.kubernetes.pod_template import read_pod_spec
from scenario_kit.model.kubernetes.quantity import parse_quantity
from scenario_kit.ports import Cluster

_PLACEHOLDER: Final = re.compile(
    r"node:all(?![-\w:])|(?:node:host|node:away|room:cpu|room:memory)"
    r":(?:Deployment|StatefulSet|DaemonSet):[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?"
)
_CONTROL_PLANE: Final = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
#: Separator of the nodes of ``node:all``.
SEPARATOR: Final = ","
_MIB: Final = 1 << 20
_HOSTNAME: Final = "kubernetes.io/hostname"
#: Lowest priority of the cluster's own components (system-cluster-critical).
_CRITICAL: Final = 2_000_000_000


def is_placeholder(value: Any) -> bool:
    """Return whether a value is nothing but a placeholder, which some other text will replace."""
    return isinstance(value, str) and _PLACEHOLDER.fullmatch(value) is not None


def resolve(
    change: Change, known: Mapping[str, str], cluster: Cluster, *namespaces: str
) -> tuple[Change, dict[str, str]]:
    """Resolve the placeholders of a change; return it with their values. Known values are kept.

    The workload that a placeholder names is in one of ``namespaces``.

    Raises:
        AuthoringError: nothing in the cluster matches a placeholder.
    """
    document = change.to_json()
    used = dict.fromkeys(_find_names(document))
    if not used:
        return change, {}
    answers = {name: known.get(name) or _resolve_name(name, cluster, namespaces) for name in used}
    return Change.from_json(_replace_names(document, answers)), answers


def resolve_checks(checks: Iterable[Check], known: Mapping[str, str]) -> list[Check]:
    """Resolve the placeholders of checks; a check on several nodes becomes one per node."""
    result: list[Check] = []
    for check in checks:
        document = check.to_json()
        used = set(_find_names(document)) & known.keys()
        if not used:
            result.append(check)
            continue
        nodes = known.get("node:all", "").split(SEPARATOR) if "node:all" in used else [""]
        result += [Check.from_json(_replace_names(document, {**known, "node:all": node})) for node in nodes]
    return result


def resolve_reference(ref: Reference, known: Mapping[str, str]) -> set[tuple[str, str]]:
    """Return kind and name of the objects that a reference names, which are several only for ``node:all``."""
    return {(ref.kind, name) for name in _replace_names(ref.name, known).split(SEPARATOR)}


def _find_names(document: Object) -> Iterable[str]:
    return (name for text in list_texts(document, keys=True) for name in _PLACEHOLDER.findall(text))


def _replace_names(value: Any, answers: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda match: answers.get(match[0], match[0]), value)
    if isinstance(value, Mapping):
        return {_replace_names(k, answers): _replace_names(v, answers) for k, v in value.items()}
    if isinstance(value, list):
        return [_replace_names(item, answers) for item in value]
    return value


def _resolve_name(name: str, cluster: Cluster, namespaces: Sequence[str]) -> str:
    if name == "node:all":
        return SEPARATOR.join(_require(_list_schedulable(cluster), name, "schedulable worker node"))
    kind, what, owner, workload = name.split(":")
    named = [Reference(owner, workload, namespace) for namespace in namespaces]
    ref = next((r for r in named if cluster.get(r) is not None), named[0])
    host = _find_host(cluster, ref, name)
    if kind == "room":
        return _measure_room(cluster, ref, host, what, name)
    if what == "away":
        others = [n for n in _list_schedulable(cluster) if n != host]
        return _require(others, name, f"second schedulable worker node besides {host}")[0]
    return host


def _find_host(cluster: Cluster, workload: Reference, name: str) -> str:
    nodes = {n["metadata"]["name"]: n for n in cluster.list("Node")}
    hosts = [
        node
        for pod in sorted(list_pods(cluster, workload), key=lambda p: str(p["metadata"]["name"]))
        if (node := pod["spec"].get("nodeName")) in nodes and not _is_control_plane(nodes[node])
    ]
    return _require(hosts, name, f"pod of {workload.kind}/{workload.name} on a worker node")[0]


def _list_schedulable(cluster: Cluster) -> list[str]:
    """List the nodes on which the scheduler may place ordinary pods."""
    return sorted(
        node["metadata"]["name"]
        for node in cluster.list("Node")
        if not _is_control_plane(node)
        and not (node.get("spec") or {}).get("unschedulable")
        and all(t.get("effect") == "PreferNoSchedule" for t in (node.get("spec") or {}).get("taints") or ())
    )


def _is_control_plane(node: Object) -> bool:
    labels = node["metadata"].get("labels") or {}
    return any(label in labels for label in _CONTROL_PLANE)


def _measure_room(cluster: Cluster, workload: Reference, host: str, resource: str, name: str) -> str:
    """Compute the free capacity of a host beside its immovable pods, less half the request of one pod of the workload.

    Movable pods do not count, as they may go elsewhere at their next restart and free capacity for the workload.
    Neither do the workload's own pods on the host.
    """
    node = cluster.get(Reference("Node", host))
    obj = cluster.get(workload)
    if node is None or obj is None:
        raise AuthoringError(f"{name}: node {host} or {workload.kind}/{workload.name} is gone")
    own = {p["metadata"]["uid"] for p in list_pods(cluster, workload)}
    fixed = [p for p in cluster.list("Pod") if _is_immovable(p, host) and p["metadata"].get("uid") not in own]
    free = parse_quantity(node["status"]["allocatable"][resource]) - sum(
        sum_pod_requests(p["spec"]).get(resource, 0.0) for p in fixed
    )
    each = sum_pod_requests(read_pod_spec(obj)).get(resource, 0.0)
    left = free - each * int(obj["spec"].get("replicas", 1)) + each / 2
    if each <= 0 or left <= 0:
        raise AuthoringError(
            f"{name}: no request fits in place of {workload.kind}/{workload.name} on node {host}",
            fix=f"aim at a workload that requests {resource} and fits on its node",
        )
    return f"{int(left // _MIB)}Mi" if resource == "memory" else f"{int(left * 1000)}m"


def _is_immovable(pod: Object, host: str) -> bool:
    """Return whether a pod is bound to the host, or cannot be preempted."""
    spec = pod["spec"]
    if spec.get("nodeName") != host or (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return False
    owners = {o["kind"] for o in pod["metadata"].get("ownerReferences") or ()}
    pinned = (spec.get("nodeSelector") or {}).get(_HOSTNAME) == host
    return pinned or bool(owners & {"DaemonSet", "Node"}) or int(spec.get("priority") or 0) >= _CRITICAL


def _require(found: list[str], name: str, what: str) -> list[str]:
    if not found:
        raise AuthoringError(f"cannot resolve '{name}': the cluster has no {what}", fix="aim at another workload")
    return found
