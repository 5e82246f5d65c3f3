"""Expand named effect checks into plain checks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import msgspec

from scenario_kit.model import Object
from scenario_kit.model.authored.effect_check import EFFECT_CHECKS, ChaosInjected, Deleted
from scenario_kit.model.base import convert
from scenario_kit.render.faults.effects import pods, requests
from scenario_kit.render.faults.effects.subject import EffectSubject
from scenario_kit.render.templating.authoring_error import build_error

__all__ = ["EffectSubject", "expand_check"]


def expand_check(document: Object, subject: EffectSubject, where: str) -> Object:
    """Expand a rendered check if it is a named one; return others unchanged.

    Raises:
        AuthoringError: SK123 for invalid parameters of the check; SK120 for a target without pods or component.
    """
    name = next((key for key in document if key in _BUILDERS), "")
    if not name:
        return document
    try:
        check = convert(document[name], EFFECT_CHECKS[name])
    except msgspec.ValidationError as error:
        raise build_error("SK123", f"{where}.{name}: {error}", observed=json.dumps(document[name])[:300]) from error
    return {**_BUILDERS[name](check, subject), **{k: v for k, v in document.items() if k != name}}


def _build_chaos_injected(check: ChaosInjected, subject: EffectSubject) -> Object:
    path = 'status.conditions[?(@.type=="AllInjected")].status'
    return {"object": {"ref": check.ref or subject.created, "path": path, "equals": "True"}}


def _build_deleted(check: Deleted, subject: EffectSubject) -> Object:
    return {"object": {"ref": check.ref or subject.created, "exists": False}}


_BUILDERS: Final[dict[str, Callable[[Any, EffectSubject], Object]]] = {
    "chaosInjected": _build_chaos_injected,
    "deleted": _build_deleted,
    "podsPending": pods.build_pods_pending,
    "podsReady": pods.build_pods_ready,
    "containersRunning": pods.build_containers_running,
    "containersWaiting": pods.build_containers_waiting,
    "containersTerminated": pods.build_containers_terminated,
    "containersRestarted": pods.build_containers_restarted,
    "requestsFail": requests.build_requests_fail,
    "requestsStop": requests.build_requests_stop,
    "targetFails": requests.build_target_fails,
    "latencyRises": requests.build_latency_rises,
    "requestsSlowOrFail": requests.build_requests_slow_or_fail,
    "requestsSucceed": requests.build_requests_succeed,
    "requestsDrop": requests.build_requests_drop,
}
