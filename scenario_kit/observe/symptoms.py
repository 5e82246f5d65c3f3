"""Signs: what whoever investigates finds beside alerts, as short texts that can be compared between runs. Pure.

Names that differ from run to run (pods, hashes, numbers, addresses) are left out, so that the same trouble gives the
same signs: ``event BackOff on Deployment/cart``, ``state OOMKilled on Deployment/cart``, ``log of Deployment/cart: …``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from scenario_kit.model import App, Object
from scenario_kit.model.kubernetes.status import list_container_statuses
from scenario_kit.model.kubernetes.timestamp import parse_timestamp
from scenario_kit.observe.entities import find_by_name
from scenario_kit.ports import LogLine

#: Lines that tell of trouble, in whatever language they were printed.
_TROUBLE: Final = re.compile(
    r"error|fail|exception|refus|time[d ]*out|deadline|unavailable|denied|no such|not found|panic|fatal|killed|reset",
    re.IGNORECASE,
)
#: What differs between two lines of the same kind: times, ids, addresses, numbers, and quoted values.
_VARIES: Final = re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b(?=[a-z]*\d)[0-9a-f]{8,}\b|\d+", re.IGNORECASE)
_LONGEST: Final = 90
#: Kinds of lines kept for each workload, the most frequent first.
_LINES: Final = 6
#: Reasons for which a container waits in a healthy app as well.
_USUAL: Final = ("ContainerCreating", "PodInitializing", "Completed", "")


def find_event_symptoms(events: Iterable[Object], app: App) -> set[str]:
    """Find warnings, by reason and by the object that they are about; pods stand for their workloads."""
    found = set()
    for event in events:
        if event.get("type") == "Warning":
            about = event.get("involvedObject") or event.get("regarding") or {}
            found.add(f"event {event.get('reason', '')} on {_find_subject(about, app)}")
    return found


def find_pod_symptoms(pods: Iterable[Object], app: App) -> set[str]:
    """Find why containers wait or ended, and pods that are not scheduled."""
    found = set()
    for pod in pods:
        owner = find_by_name(pod["metadata"]["name"], app)
        status = pod.get("status") or {}
        found |= {f"state {reason} on {owner}" for reason in _list_reasons(status) if reason not in _USUAL}
        for condition in status.get("conditions") or []:
            if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
                found.add(f"state {condition.get('reason', 'Unschedulable')} on {owner}")
    return found


def _list_reasons(status: Object) -> Iterator[str]:
    for container in list_container_statuses(status):
        for state in (container.get("state") or {}, container.get("lastState") or {}):
            yield (state.get("waiting") or {}).get("reason", "")
            yield (state.get("terminated") or {}).get("reason", "")
    yield status.get("reason", "")


def list_unready(pods: Iterable[Object]) -> list[str]:
    """List pods that should serve and are not ready, each with the reason that its status gives."""
    found = []
    for pod in pods:
        status = pod.get("status") or {}
        conditions = {c.get("type"): c for c in status.get("conditions") or []}
        ready = conditions.get("Ready") or {}
        if status.get("phase") in ("Succeeded", "Failed") or ready.get("status") == "True":
            continue
        if pod["metadata"].get("deletionTimestamp"):
            continue
        waits = [(c.get("state") or {}).get("waiting") or {} for c in list_container_statuses(status)]
        unplaced = conditions.get("PodScheduled") or {}
        reasons = [w["reason"] for w in waits if w.get("reason")]
        reasons += [unplaced.get("reason", "Unschedulable")] if unplaced.get("status") == "False" else []
        reasons += [ready.get("reason") or status.get("phase") or "Pending"]
        found.append(f"Pod/{pod['metadata']['name']} is not ready: {reasons[0]}")
    return sorted(found)


def explain_hindered(pods: Iterable[Object], app: App, workload: str) -> list[str]:
    """Explain why pods of a workload wait, in the words of who lets them wait, such as ``Unschedulable: 0/3 nodes
    …``.
    """
    found = set()
    for pod in pods:
        if find_by_name(pod["metadata"]["name"], app) != workload:
            continue
        status = pod.get("status") or {}
        conditions = status.get("conditions") or []
        waits = [c for c in conditions if c.get("type") == "PodScheduled" and c.get("status") == "False"]
        for container in list_container_statuses(status):
            waits.append((container.get("state") or {}).get("waiting") or {})
        reported = ((wait.get("reason", ""), wait.get("message", "")) for wait in waits)
        found |= {f"{reason}: {message}" if message else reason for reason, message in reported if reason not in _USUAL}
    return sorted(found)


def list_started(pods: Iterable[Object], app: App, after: float, before: float) -> list[str]:
    """List workloads with a container that runs since then: from ``after`` until ``before``, in Unix seconds."""
    found = set()
    for pod in pods:
        for container in (pod.get("status") or {}).get("containerStatuses") or []:
            at = ((container.get("state") or {}).get("running") or {}).get("startedAt")
            if at and after <= parse_timestamp(at) < before:
                found.add(find_by_name(pod["metadata"]["name"], app))
    return sorted(found)


def find_log_symptoms(lines: Iterable[LogLine], app: App) -> set[str]:
    """Find the most frequent kinds of lines that tell of trouble, for each workload."""
    kinds: dict[str, Counter[str]] = {}
    for line in lines:
        if _TROUBLE.search(line.text):
            kinds.setdefault(find_by_name(line.pod, app), Counter())[extract_template(line.text)] += 1
    return {
        f"log of {owner}: {kind}"
        for owner, counted in kinds.items()
        for kind, _ in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))[:_LINES]
    }


def is_about(sign: str, workload: str) -> bool:
    """Return whether a sign is about a workload, spelled as references usually are."""
    return sign.endswith(f" on {workload}") or sign.startswith(f"log of {workload}:")


def extract_template(line: str) -> str:
    """Extract a line without what differs from one of its kind to the next."""
    return " ".join(_VARIES.sub("#", line).split())[:_LONGEST]


def _find_subject(about: Object, app: App) -> str:
    kind, name = about.get("kind", ""), about.get("name", "")
    if kind == "Pod":
        return find_by_name(name, app)
    if kind == "ReplicaSet":
        return f"Deployment/{name.rpartition('-')[0]}"
    return f"{kind}/{name}"
