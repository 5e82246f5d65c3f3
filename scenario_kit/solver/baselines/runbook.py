"""A troubleshooting runbook as rules: suspects from alerts, and an ordered list of checks.

The checks are those of generic Kubernetes runbooks: nodes, quotas, images, configuration, memory, crashes, scheduling,
replicas, selectors, ports, probes, and then changes since the app's deployment. None is specific to an app.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from scenario_kit.solver.baselines.cluster_state import ClusterState, SeenPod
from scenario_kit.solver.baselines.observation import WORKLOAD_KINDS, Observation, SeenObject
from scenario_kit.solver.baselines.rankings import rank_by_loudness, rank_by_onset, rank_by_spectrum

#: Labels of alerts about requests; alerts without them are about the object they name.
_REQUEST_LABELS: Final = ("service_name", "service")
_QUOTA: Final = re.compile(r"exceeded quota: ([\w.-]+)")
_IMAGE: Final = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull")
_CONFIGURATION: Final = ("CreateContainerConfigError", "CreateContainerError", "RunContainerError")
_UNSCHEDULABLE: Final = "were unschedulable"


class RunbookFinding(NamedTuple):
    """An object to blame, as ``Kind/name``, and the component it affects."""

    blamed: str
    component: str


RunbookCheck = Callable[[Observation], Iterable[RunbookFinding]]


def consult_runbook(seen: Observation) -> list[str]:
    """Rank objects: findings about suspects, then findings about other components, then the suspects.

    Without alerts, changes are not considered.
    """
    suspects = list_suspects(seen)
    places = {name.partition("/")[2]: place for place, name in enumerate(suspects)}
    found: list[tuple[bool, int, int, str]] = []
    for order, check in enumerate(CHECKS if seen.alerts else STATE_CHECKS):
        for finding in check(seen):
            place = places.get(finding.component, len(places))
            found.append((place == len(places), order, place, finding.blamed))
    return list(dict.fromkeys([*(blamed for *_, blamed in sorted(found)), *suspects]))


def list_suspects(seen: Observation) -> list[str]:
    """List suspect workloads as ``Kind/name``, most suspicious first.

    Alerts about objects name their workload. Alerts about requests point along the call graph: first services whose
    spans fail, then callees of the alerting services, then the alerting services themselves.
    """
    direct = [alert for alert in seen.alerts if not any(label in alert.labels for label in _REQUEST_LABELS)]
    named = [name for alert in direct if (name := seen.find_workload(alert.labels))]
    alerting = [*rank_by_loudness(seen), *rank_by_onset(seen)]
    return list(dict.fromkeys([*named, *rank_by_spectrum(seen), *_list_called(seen, alerting), *alerting]))


def _list_called(seen: Observation, callers: Iterable[str]) -> list[str]:
    """List the direct and transitive callees of workloads, nearest first."""
    known = seen.workloads
    queue = [name.partition("/")[2] for name in callers]
    reached: dict[str, None] = dict.fromkeys(queue)
    for caller in queue:
        for call in seen.calls:
            if call.caller == caller and call.callee not in reached:
                reached[call.callee] = None
                queue.append(call.callee)
    return [known[name] for name in reached if name in known]


def _blame_owner(state: ClusterState, name: str) -> Iterator[RunbookFinding]:
    if (owner := state.find_owner(name)) is not None:
        yield RunbookFinding(f"{owner.kind}/{owner.name}", owner.name)


def _check_nodes(seen: Observation) -> Iterator[RunbookFinding]:
    """Blame a node that is not ready, for each workload with a pod on it."""
    for node in seen.state.nodes:
        hosted = [pod for pod in seen.state.pods if pod.node == node.name]
        for pod in hosted if not node.ready else ():
            for owner in _blame_owner(seen.state, pod.name):
                yield RunbookFinding(f"Node/{node.name}", owner.component)


def _check_quota(seen: Observation) -> Iterator[RunbookFinding]:
    """Blame a quota that prevents the creation of pods."""
    for warning in seen.state.warnings:
        if warning.reason == "FailedCreate" and (match := _QUOTA.search(warning.message)):
            for owner in _blame_owner(seen.state, warning.name):
                yield RunbookFinding(f"ResourceQuota/{match[1]}", owner.component)


def _check_pods(holds: Callable[[SeenPod], bool]) -> RunbookCheck:
    """Return a check that blames the workloads of pods that match a predicate."""

    def check(seen: Observation) -> Iterator[RunbookFinding]:
        for pod in seen.state.pods:
            if holds(pod):
                yield from _blame_owner(seen.state, pod.name)

    return check


def _check_scheduling(seen: Observation) -> Iterator[RunbookFinding]:
    """Blame cordoned nodes if the scheduler reports them, otherwise the workload of the pending pod."""
    pending = {pod.name for pod in seen.state.pods if pod.phase == "Pending" and not pod.node}
    closed = [node.name for node in seen.state.nodes if not node.schedulable]
    for warning in seen.state.warnings:
        if warning.reason == "FailedScheduling" and warning.name in pending:
            for owner in _blame_owner(seen.state, warning.name):
                if closed and _UNSCHEDULABLE in warning.message:
                    yield from (RunbookFinding(f"Node/{name}", owner.component) for name in closed)
                else:
                    yield owner


def _check_replicas(seen: Observation) -> Iterator[RunbookFinding]:
    """Blame a workload scaled to zero although a Service has its name."""
    services = {each.name for each in seen.state.services}
    for each in seen.state.workloads:
        if each.desired == 0 and each.name in services:
            yield RunbookFinding(f"{each.kind}/{each.name}", each.name)


def _check_selectors(seen: Observation) -> Iterator[RunbookFinding]:
    """Blame a Service whose selector matches no pod although the workload of its name has pods."""
    workloads = {each.name: each for each in seen.state.workloads}
    for service in seen.state.services:
        workload = workloads.get(service.name)
        if service.selector and workload and workload.available and not seen.state.select_pods(service.selector):
            yield RunbookFinding(f"Service/{service.name}", service.name)


def _check_ports(seen: Observation) -> Iterator[RunbookFinding]:
    """Blame a Service whose target port none of its pods declares, if they declare ports."""
    for service in seen.state.services:
        declared = {port for pod in seen.state.select_pods(service.selector) for port in pod.ports}
        if declared and set(service.target_ports) - declared:
            yield RunbookFinding(f"Service/{service.name}", service.name)


def _check_probes(seen: Observation) -> Iterator[RunbookFinding]:
    """Blame workloads with running pods that fail probes and are not ready."""
    failing = {warning.name for warning in seen.state.warnings if warning.reason == "Unhealthy"}
    for pod in seen.state.pods:
        if pod.name in failing and pod.phase == "Running" and not pod.ready:
            yield from _blame_owner(seen.state, pod.name)


def _check_available(seen: Observation) -> Iterator[RunbookFinding]:
    """Blame workloads with fewer available pods than desired."""
    for each in seen.state.workloads:
        if each.available < each.desired:
            yield RunbookFinding(f"{each.kind}/{each.name}", each.name)


def list_changes(seen: Observation, kinds: tuple[str, ...]) -> list[SeenObject]:
    """List the objects of some kinds changed after the app's deployment, newest first.

    A write shared by at least half of a kind's objects is maintenance, and ignored.
    """
    deployed = max((each.created for each in seen.objects if each.kind in WORKLOAD_KINDS), default="")
    changed = [each for each in seen.objects if each.kind in kinds and each.written > deployed]
    shared = Counter((each.kind, each.written) for each in changed)
    totals = Counter(each.kind for each in seen.objects)
    individual = [
        each
        for each in changed
        if shared[each.kind, each.written] == 1 or 2 * shared[each.kind, each.written] < totals[each.kind]
    ]
    return sorted(individual, key=lambda each: each.written, reverse=True)


def _check_changes(*kinds: str) -> RunbookCheck:
    """Return a check that blames objects changed after the app's deployment."""

    def check(seen: Observation) -> Iterator[RunbookFinding]:
        for each in list_changes(seen, kinds):
            owner = seen.state.find_owner(each.name)
            yield RunbookFinding(f"{each.kind}/{each.name}", owner.name if owner else each.name)

    return check


#: Checks of the cluster's state, most specific first.
STATE_CHECKS: Final[tuple[RunbookCheck, ...]] = (
    _check_nodes,
    _check_quota,
    _check_pods(lambda pod: any(reason in _IMAGE for reason in pod.waiting)),
    _check_pods(lambda pod: any(reason in _CONFIGURATION for reason in pod.waiting)),
    _check_pods(lambda pod: "OOMKilled" in pod.ended),
    _check_pods(lambda pod: "CrashLoopBackOff" in pod.waiting),
    _check_scheduling,
    _check_replicas,
    _check_selectors,
    _check_ports,
    _check_probes,
)
#: All checks in order, least specific last.
CHECKS: Final[tuple[RunbookCheck, ...]] = (
    *STATE_CHECKS,
    _check_changes("NetworkPolicy"),
    _check_changes("Service"),
    _check_changes("ConfigMap"),
    _check_changes(*WORKLOAD_KINDS, "HorizontalPodAutoscaler"),
    _check_available,
)
