"""Effect checks on pods and their containers, from the series of kube-state-metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scenario_kit.model import Object
from scenario_kit.model.authored.effect_check import (
    ContainersRestarted,
    ContainersRunning,
    ContainersTerminated,
    ContainersWaiting,
    PodsPending,
    PodsReady,
)
from scenario_kit.render.faults.effects.subject import EffectSubject
from scenario_kit.render.faults.target_lookups import match_pods
from scenario_kit.render.templating.authoring_error import build_error

#: Within this window pods that start would have become ready.
_LONGER_THAN_A_START: Final = "[90s:15s]"


def build_pods_pending(check: PodsPending, subject: EffectSubject) -> Object:
    """Build the check that pods are pending."""
    return _query(f'sum(kube_pod_status_phase{{phase="Pending", {_pods(check.of, subject)}}})', check.at_least)


def build_pods_ready(check: PodsReady, subject: EffectSubject) -> Object:
    """Build the check of the number of ready pods."""
    if (check.at_least is None) == (check.at_most is None):
        raise build_error("SK123", "`podsReady` takes either `atLeast` or `atMost`")
    expr = f'sum(kube_pod_status_ready{{condition="true", {_pods(check.of, subject)}}})'
    expr += " or vector(0)" if check.count_missing else ""
    if check.at_least is not None:
        return _query(expr, check.at_least)
    if not check.count_missing:
        # No pod is ready in the middle of a rollout either. Those that may be missing come and go: they need no window.
        expr = f"max_over_time(({expr}){_LONGER_THAN_A_START})"
    return {"query": {"expr": expr, "is": "AtMost" if check.at_most else "Equal", "value": check.at_most}}


def build_containers_running(check: ContainersRunning, subject: EffectSubject) -> Object:
    """Build the check that containers run."""
    labels = f'container="{check.container or subject.container}", {_pods(check.of, subject)}'
    return _query(f"sum(kube_pod_container_status_running{{{labels}}})", check.at_least)


def build_containers_waiting(check: ContainersWaiting, subject: EffectSubject) -> Object:
    """Build the check that containers wait for a reason."""
    metric = f"kube_pod_{'init_' if check.init else ''}container_status_waiting_reason"
    return _query(f"sum({metric}{{{_labels(check.reasons, check.container, check.of, subject)}}})", 1)


def build_containers_terminated(check: ContainersTerminated, subject: EffectSubject) -> Object:
    """Build the check that containers terminated for a reason."""
    labels = _labels(check.reasons, check.container, check.of, subject)
    return _query(f"sum(kube_pod_container_status_last_terminated_reason{{{labels}}})", 1)


def build_containers_restarted(check: ContainersRestarted, subject: EffectSubject) -> Object:
    """Build the check that a container has restarted at least ``atLeast`` times."""
    labels = f'container="{check.container or subject.container}", {_pods(check.of, subject)}'
    return _query(f"max(kube_pod_container_status_restarts_total{{{labels}}})", check.at_least)


def _query(expr: str, at_least: int) -> Object:
    return {"query": {"expr": expr, "is": "AtLeast", "value": at_least}}


def _pods(of: str, subject: EffectSubject) -> str:
    owner = subject.find_workload(of or str(subject.target))
    return f'pod=~"{match_pods(owner)}"'


def _labels(reasons: Sequence[str], container: str, of: str, subject: EffectSubject) -> str:
    reason = f'reason="{reasons[0]}"' if len(reasons) == 1 else f'reason=~"{"|".join(reasons)}"'
    named = [f'container="{container}"'] if container else []
    return ", ".join([reason, *named, _pods(of, subject)])
