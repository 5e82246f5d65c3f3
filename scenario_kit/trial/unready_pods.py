"""Explain why pods of an app do not become ready, as their status says it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from scenario_kit.model import Object
from scenario_kit.model.kubernetes.pod_spec import list_sidecars
from scenario_kit.model.kubernetes.status import list_serving_statuses
from scenario_kit.model.shortening import shorten_list

#: Reasons of waiting containers that say nothing more than that they are not up yet.
_NORMAL: Final = ("ContainerCreating", "PodInitializing")
_MOST: Final = 4
_LONGEST: Final = 240
#: What the scheduler says of pods whose volumes nothing provides.
_UNBOUND: Final = "PersistentVolumeClaim"


def explain_unready_pods(pods: Iterable[Object]) -> str:
    """Describe what keeps pods from being ready, each reason once; empty if their status does not say it."""
    reasons: dict[str, str] = {}
    for pod in sorted(pods, key=lambda p: str(p["metadata"]["name"])):
        for reason in _list_reasons(pod):
            reasons.setdefault(reason, str(pod["metadata"]["name"]))
    return shorten_list([f"Pod/{name}: {reason}" for reason, name in reasons.items()], _MOST, "; ")


def suggest_fix(explanation: str) -> str:
    """Suggest a fix of what keeps pods from being ready; empty if there is none for that."""
    if _UNBOUND not in explanation:
        return ""
    return (
        "the cluster provisions no volumes, as no lab does: make the claims depend on an option with "
        "`x-requires: {Claim: [dynamic-storage]}`, and use `emptyDir` otherwise (docs/add-an-app.md)"
    )


def _list_reasons(pod: Object) -> Iterator[str]:
    status: Mapping[str, Any] = pod.get("status") or {}
    conditions = {c.get("type"): c for c in status.get("conditions") or ()}
    if (placed := conditions.get("PodScheduled", {})).get("status") == "False":
        yield _shorten("cannot be scheduled", placed.get("message"))
        return
    found = False
    sidecars = {each["name"] for each in list_sidecars(pod.get("spec") or {})}
    for kind in ("initContainerStatuses", "containerStatuses"):
        for container in status.get(kind) or ():
            state = container.get("state") or {}
            waiting, ended = state.get("waiting") or {}, (container.get("lastState") or {}).get("terminated") or {}
            if waiting.get("reason") and waiting["reason"] not in _NORMAL:
                found = True
                code = f"; it ended with code {ended['exitCode']}" if "exitCode" in ended else ""
                yield _shorten(f"container '{container['name']}': {waiting['reason']}", waiting.get("message")) + code
            elif kind == "initContainerStatuses" and container["name"] not in sidecars and "running" in state:
                found = True
                yield f"init container '{container['name']}' has not ended"
    ready = conditions.get("Ready", {})
    if not found and ready.get("reason") == "ReadinessGatesNotReady":
        yield f"is not ready: {ready.get('message')}"
    elif not found and ready.get("status") == "False":
        for container in list_serving_statuses(pod):
            if not container.get("ready") and "running" in (container.get("state") or {}):
                probe = "startupProbe" if container.get("started") is False else "readinessProbe"
                yield f"container '{container['name']}' runs, but is not ready: see its {probe}"


def _shorten(what: str, message: Any) -> str:
    text = " ".join(str(message or "").split())
    return f"{what}: {text:.{_LONGEST}}" if text else what
