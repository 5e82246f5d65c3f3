"""Phase and conditions of a pod from its container states. Source: ``getPhase`` and ``status/generate.go``."""

from __future__ import annotations

from scenario_kit.lab.kubelet.pod.context import PodContext
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.pod_spec import is_sidecar
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.model.kubernetes.timestamp import format_timestamp

#: The conditions owned by the kubelet, in the order in which it writes them.
OWN = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
TERMINAL = ("Succeeded", "Failed")


def compute_phase(ctx: PodContext) -> str:
    """Compute the pod's phase. A terminal phase is final."""
    before = ctx.status.get("phase")
    if before in TERMINAL:
        return str(before)
    policy = ctx.spec.get("restartPolicy", "Always")
    pending, failed = _check_initialisation(ctx)
    if failed and policy == "Never":
        return "Failed"
    running = waiting = ended_well = stopped = 0
    for container in ctx.mains:
        state = ctx.entry(container["name"])["state"]
        last = (ctx.entry(container["name"]).get("lastState") or {}).get("terminated")
        if "running" in state:
            running += 1
        elif "terminated" in state:
            stopped += 1
            ended_well += state["terminated"]["exitCode"] == 0
        elif last:
            stopped += 1
        else:
            waiting += 1
    running += any(is_sidecar(c) and "running" in ctx.entry(c["name"])["state"] for c in ctx.inits)
    if pending or waiting:
        return "Pending"
    if running:
        return "Running"
    return _compute_stopped_phase(ctx, policy, stopped, ended_well)


def _check_initialisation(ctx: PodContext) -> tuple[bool, bool]:
    """Return whether an init container is unfinished or a sidecar not started, and whether an init container failed."""
    pending = failed = False
    for container in ctx.inits:
        entry = ctx.entry(container["name"])
        if is_sidecar(container):
            starting = "running" in entry["state"] and not entry["started"]
            waiting = "waiting" in entry["state"] and not entry.get("lastState")
            pending = pending or ((starting or waiting) and not _has_run(ctx))
            continue
        ended = entry["state"].get("terminated") or (entry.get("lastState") or {}).get("terminated")
        if "running" in entry["state"] or ended is None:
            pending = True
        elif ended["exitCode"] != 0:
            failed = True
    return pending, failed


def _compute_stopped_phase(ctx: PodContext, policy: str, stopped: int, ended_well: int) -> str:
    deleted = is_terminating(ctx.pod)
    if policy == "Always" and not deleted:
        return "Running"
    if stopped == ended_well:
        return "Succeeded"
    return "Failed" if policy == "Never" or deleted else "Running"


def _has_run(ctx: PodContext) -> bool:
    return any(ctx.entry(c["name"]).get("containerID") for c in ctx.mains)


def build_conditions(ctx: PodContext, sandbox: bool, now: float) -> list[Object]:
    """Build all conditions: the kubelet's are recomputed, others copied. A transition time changes with the status."""
    before = {c["type"]: c for c in ctx.status.get("conditions") or ()}
    generation = ctx.pod["metadata"].get("generation", 1)
    foreign = [c for kind, c in before.items() if kind not in OWN]
    result = [*foreign]
    ready = _judge_containers_ready(ctx)
    gates = [g["conditionType"] for g in ctx.spec.get("readinessGates") or ()]
    for kind, (status, reason, message) in {
        "PodReadyToStartContainers": (sandbox, "", ""),
        "Initialized": _judge_initialized(ctx),
        "Ready": _judge_ready(ready, gates, {c["type"]: c["status"] for c in foreign}),
        "ContainersReady": ready,
        "PodScheduled": (True, "", ""),
    }.items():
        condition: Object = {"type": kind, "status": "True" if status else "False", "lastProbeTime": None}
        old = before.get(kind)
        same = old is not None and old["status"] == condition["status"]
        condition["lastTransitionTime"] = (same and old and old.get("lastTransitionTime")) or format_timestamp(now)
        condition["observedGeneration"] = generation
        if reason:
            condition["reason"] = reason
        if message:
            condition["message"] = message
        result.append(condition)
    return result


def _judge_ready(containers: tuple[bool, str, str], gates: list[str], foreign: dict[str, str]) -> tuple[bool, str, str]:
    if not containers[0]:
        return containers
    problems = [
        f'corresponding condition of pod readiness gate "{gate}" does not exist.'
        if gate not in foreign
        else f'the status of pod readiness gate "{gate}" is not "True", but {foreign[gate]}'
        for gate in gates
        if foreign.get(gate) != "True"
    ]
    return (False, "ReadinessGatesNotReady", ", ".join(problems)) if problems else (True, "", "")


def _judge_containers_ready(ctx: PodContext) -> tuple[bool, str, str]:
    if ctx.status["phase"] == "Succeeded":
        return False, "PodCompleted", ""
    if ctx.status["phase"] == "Failed":
        return False, "PodFailed", ""
    names = [c["name"] for c in [*(c for c in ctx.inits if is_sidecar(c)), *ctx.mains]]
    unready = [name for name in names if not ctx.entry(name)["ready"]]
    if unready:
        return False, "ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]"
    return True, "", ""


def _judge_initialized(ctx: PodContext) -> tuple[bool, str, str]:
    if ctx.status["phase"] == "Succeeded":
        return True, "PodCompleted", ""
    if any(ctx.entry(c["name"]).get("containerID") for c in ctx.mains):
        return True, "", ""
    missing = [c["name"] for c in ctx.inits if not ctx.entry(c["name"])["started" if is_sidecar(c) else "ready"]]
    if missing:
        return False, "ContainersNotInitialized", f"containers with incomplete status: [{' '.join(missing)}]"
    return True, "", ""
