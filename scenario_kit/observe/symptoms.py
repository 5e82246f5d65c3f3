"""Symptoms beyond alerts, as short texts that are comparable between runs. Pure.

Values that vary between runs (pods, hashes, numbers, addresses) are stripped, so that the same problem yields the same
symptoms: ``event BackOff on Deployment/cart``, ``state OOMKilled on Deployment/cart``, ``log of Deployment/cart: …``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from scenario_kit.model import App, Object
from scenario_kit.model.kubernetes.status import is_terminating, list_container_statuses, list_serving_statuses
from scenario_kit.model.kubernetes.timestamp import parse_timestamp
from scenario_kit.observe.entities import find_by_name
from scenario_kit.ports import LogLine

#: Log lines that indicate a problem, for any programming language.
_PROBLEM: Final = re.compile(
    r"error|fail|exception|refus|time[d ]*out|deadline|unavailable|denied|no such|not found|panic|fatal|killed|reset",
    re.IGNORECASE,
)
#: Variable parts of log lines: times, ids, addresses and numbers.
_VARIES: Final = re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b(?=[a-z]*\d)[0-9a-f]{8,}\b|\d+", re.IGNORECASE)
_MAX_LENGTH: Final = 90
#: Maximum number of log templates per workload, most frequent first.
_LINES: Final = 6
#: Waiting reasons that also occur in healthy apps.
_USUAL: Final = ("ContainerCreating", "PodInitializing", "Completed", "")


def find_event_symptoms(events: Iterable[Object], app: App) -> set[str]:
    """Find warning events by reason and object; pods are mapped to workloads."""
    found = set()
    for event in events:
        if event.get("type") == "Warning":
            about = event.get("involvedObject") or event.get("regarding") or {}
            found.add(f"event {event.get('reason', '')} on {_find_subject(about, app)}")
    return found


def find_pod_symptoms(pods: Iterable[Object], app: App) -> set[str]:
    """Find reasons of waiting and terminated containers, and unschedulable pods."""
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
    """List pods that are not ready, with the reason from their status; completed pods are omitted."""
    found = []
    for pod in pods:
        status = pod.get("status") or {}
        conditions = {c.get("type"): c for c in status.get("conditions") or []}
        ready = conditions.get("Ready") or {}
        if status.get("phase") in ("Succeeded", "Failed") or ready.get("status") == "True":
            continue
        if is_terminating(pod):
            continue
        waits = [(c.get("state") or {}).get("waiting") or {} for c in list_container_statuses(status)]
        unplaced = conditions.get("PodScheduled") or {}
        reasons = [w["reason"] for w in waits if w.get("reason")]
        reasons += [unplaced.get("reason", "Unschedulable")] if unplaced.get("status") == "False" else []
        reasons += [ready.get("reason") or status.get("phase") or "Pending"]
        found.append(f"Pod/{pod['metadata']['name']} is not ready: {reasons[0]}")
    return sorted(found)


def explain_hindered(pods: Iterable[Object], app: App, workload: str) -> list[str]:
    """List the reasons and messages of a workload's waiting pods, such as ``Unschedulable: 0/3 nodes …``."""
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
    """List workloads with a container that started between ``after`` and ``before``, in Unix seconds."""
    found = set()
    for pod in pods:
        for container in list_serving_statuses(pod):
            at = ((container.get("state") or {}).get("running") or {}).get("startedAt")
            if at and after <= parse_timestamp(at) < before:
                found.add(find_by_name(pod["metadata"]["name"], app))
    return sorted(found)


def find_log_symptoms(lines: Iterable[LogLine], app: App) -> set[str]:
    """Find the most frequent templates of problem log lines per workload."""
    kinds: dict[str, Counter[str]] = {}
    for line in lines:
        if _PROBLEM.search(line.text):
            kinds.setdefault(find_by_name(line.pod, app), Counter())[extract_template(line.text)] += 1
    return {
        f"log of {owner}: {kind}"
        for owner, counted in kinds.items()
        for kind, _ in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))[:_LINES]
    }


def is_about(sign: str, workload: str) -> bool:
    """Return whether a symptom concerns a workload, given as a reference."""
    return sign.endswith(f" on {workload}") or sign.startswith(f"log of {workload}:")


def extract_template(line: str) -> str:
    """Replace the variable parts of a log line."""
    return " ".join(_VARIES.sub("#", line).split())[:_MAX_LENGTH]


def _find_subject(about: Object, app: App) -> str:
    kind, name = about.get("kind", ""), about.get("name", "")
    if kind == "Pod":
        return find_by_name(name, app)
    if kind == "ReplicaSet":
        return f"Deployment/{name.rpartition('-')[0]}"
    return f"{kind}/{name}"
