"""Probe checks: send requests to the pods of a target."""

from __future__ import annotations

from scenario_kit.errors import NotFound
from scenario_kit.model import Object, Reference
from scenario_kit.model.authored.check import ProbeCheck
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.model.runtime.observation import Answer
from scenario_kit.observe.entities import list_owned_pods
from scenario_kit.ports import Cluster, Probed


def probe(check: ProbeCheck, ref: Reference, cluster: Cluster) -> tuple[Answer, str, str]:
    """Return answer, observation and expectation. A target without pods is a failure, not missing evidence.

    ``ref`` is the target with its real namespace.
    """
    probed_ports: list[tuple[str, Probed]] = []
    for pod, port in _find_pods_behind(check, ref, cluster):
        try:
            probed_ports.append((f"{pod.name}:{port}", cluster.probe(pod, port, check.path)))
        except NotFound:
            continue  # replaced between listing and probing
    answers = [_succeeds(check, probed) for _, probed in probed_ports]
    observed = (
        "; ".join(f"{where} {_describe_probed(probed)}" for where, probed in probed_ports[:5])
        or f"no pod behind {check.target}"
    )
    if check.succeeds is False:
        answer: Answer = "False" if True in answers else "Unknown" if None in answers else "True"
    else:
        answer = "False" if False in answers or not answers else "Unknown" if None in answers else "True"
    return answer, observed[:500], describe_expected(check)


def describe_expected(check: ProbeCheck) -> str:
    """Describe the expectation of a check."""
    if not check.path:
        return "a connection" if check.succeeds else "no connection"
    answer = f"an answer with a status from {check.status_at_least} to {check.status_at_most}"
    return answer if check.succeeds else f"no {answer.removeprefix('an ')}"


def _succeeds(check: ProbeCheck, probed: Probed) -> bool | None:
    if probed.connected is None or not check.path:
        return probed.connected
    if not probed.connected:
        return False
    return None if probed.status is None else check.status_at_least <= probed.status <= check.status_at_most


def _describe_probed(probed: Probed) -> str:
    if probed.status is not None:
        return f"answers {probed.status}"
    return (
        probed.reported or {True: "accepts connections", False: "does not answer", None: "is unknown"}[probed.connected]
    )


def _find_pods_behind(check: ProbeCheck, ref: Reference, cluster: Cluster) -> list[tuple[Reference, int]]:
    if ref.kind == "Service":
        return _list_endpoints(ref, check.port, cluster)
    pods = [found] if ref.kind == "Pod" and (found := cluster.get(ref)) else list_owned_pods(cluster, ref)
    running = [p for p in pods if (p.get("status") or {}).get("phase") == "Running"]
    alive = [p for p in running if not is_terminating(p)]
    return [(Reference("Pod", p["metadata"]["name"], p["metadata"]["namespace"]), check.port) for p in alive]


def _list_endpoints(ref: Reference, port: int, cluster: Cluster) -> list[tuple[Reference, int]]:
    """List the ready pods of a Service port, with the target port on each."""
    service = cluster.get(ref)
    entry = next((p for p in (service or {}).get("spec", {}).get("ports") or () if p["port"] == port), None)
    if entry is None:
        return []
    slices = cluster.list("EndpointSlice", ref.namespace, labels={"kubernetes.io/service-name": ref.name})
    found = {
        (endpoint["targetRef"]["name"], int(number))
        for each in slices
        for number in _list_ports(each, entry.get("name") or "")
        for endpoint in each.get("endpoints") or ()
        if (endpoint.get("conditions") or {}).get("ready") is not False
        and (endpoint.get("targetRef") or {}).get("kind") == "Pod"
    }
    return [(Reference("Pod", name, ref.namespace), number) for name, number in sorted(found)]


def _list_ports(slice_: Object, name: str) -> list[int]:
    return [p["port"] for p in slice_.get("ports") or () if (p.get("name") or "") == name and p.get("port")]
