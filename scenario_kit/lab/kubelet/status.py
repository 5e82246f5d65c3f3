"""The sync decision: from a scheduled pod and its last status to the next status, events and wake-up time."""

from __future__ import annotations

import copy
from typing import NamedTuple

from scenario_kit.errors import KitError
from scenario_kit.lab.kubelet.container import configuration, containers, init_containers, probes
from scenario_kit.lab.kubelet.container.runtime import WithRuntime
from scenario_kit.lab.kubelet.image.images import Images
from scenario_kit.lab.kubelet.image.pause import WithPause
from scenario_kit.lab.kubelet.image.processes import Processes
from scenario_kit.lab.kubelet.pod import conditions, deadline, qos
from scenario_kit.lab.kubelet.pod.context import ConfigLookup, Line, PodContext, PodEvent, Restarted
from scenario_kit.lab.kubelet.pod.pod_state import PodMemory, recall
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.pod_spec import is_sidecar
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.model.kubernetes.timestamp import format_timestamp

_FIRST_MOUNT_RETRY = 0.5
_LAST_MOUNT_RETRY = 122.0
_MAX_STEPS = 20_000


class PodTransition(NamedTuple):
    """The result of a sync. ``status`` is complete; if ``gone``, delete the pod with grace 0 after the write.

    ``next_wakeup`` is the next due time on the pod's clock; None if only a change of the pod matters.
    ``pulled`` are images and the times from which the node has them.
    """

    status: Object
    events: tuple[PodEvent, ...]
    next_wakeup: float | None
    memory: PodMemory
    gone: bool = False
    output: tuple[Line | Restarted, ...] = ()
    pulled: tuple[tuple[str, float], ...] = ()


class SyncInputs(NamedTuple):
    """The inputs of a sync besides the pod.

    Args:
        node: the pod's Node; None if it is gone, in which case nothing is decided.
        objects: ConfigMaps, Secrets and claims of the namespace.
        processes: the processes of the namespace.
        images: the images on the node.
    """

    node: Object | None
    objects: ConfigLookup
    processes: Processes
    images: Images


def compute_pod_status(
    pod: Object, inputs: SyncInputs, now: float, *, ip: str = "", memory: PodMemory | None = None
) -> PodTransition:
    """Compute the next status of a pod that is bound to a node.

    The status in the API is authoritative; ``memory`` has timers and back-offs between syncs and is rebuilt from the
    status if it is None. Timers that expired since the last sync are processed at their own times, in order, so the
    result does not depend on how often this is called. Changes of the pod itself apply from ``now``.

    Args:
        pod: the Pod as last seen.
        surroundings: its node, configuration, processes and images.
        now: seconds since the epoch on the pod's clock.
        ip: the address for a pod that has none.
        memory: from the last transition; not modified.
    """
    node, objects, processes, images = inputs
    processes = WithPause(WithRuntime(processes, node or {}, objects, images))
    own = copy.deepcopy(memory) if memory is not None else recall(pod, processes, now)
    status = copy.deepcopy(pod.get("status") or {})
    if node is None:
        return PodTransition(status, (), None, own)
    ctx = PodContext(pod, node, objects, processes, images, ip, own, status)
    _fill(ctx, now)
    gone, at = False, min(own.wakeup, now) if own.wakeup is not None else now
    for _ in range(_MAX_STEPS):
        gone = _run_step(ctx, at, changes=at >= now)
        following = _find_wakeup(ctx, at)
        if gone or (at >= now and (following is None or following > now)):
            break
        at = now if following is None else min(max(following, at), now)
    else:
        raise KitError(f"pod {ctx.reference}: transitions do not end at {at}, observed {_MAX_STEPS}, expected fewer")
    own.wakeup = None if gone else _find_wakeup(ctx, now)
    return PodTransition(
        ctx.status, tuple(ctx.events), own.wakeup, own, gone, tuple(ctx.output), tuple(dict.fromkeys(ctx.pulled))
    )


def _fill(ctx: PodContext, now: float) -> None:
    status = ctx.status
    status.setdefault("phase", "Pending")
    status.setdefault("qosClass", qos.determine_qos_class(ctx.pod))
    status.setdefault("startTime", format_timestamp(now))
    host = next((a["address"] for a in _list_addresses(ctx.node) if a["type"] == "InternalIP"), "")
    if host:
        status["hostIP"], status["hostIPs"] = host, [{"ip": host}]
    for key, specs in (("initContainerStatuses", ctx.inits), ("containerStatuses", ctx.mains)):
        known = {entry["name"]: entry for entry in status.get(key) or ()}
        names = specs if key == "initContainerStatuses" else sorted(specs, key=lambda c: str(c["name"]))
        if specs:
            status[key] = [known.get(c["name"]) or _build_blank(ctx, c) for c in names]
            for container, entry in zip(names, status[key], strict=True):
                if not entry.get("containerID"):
                    entry["image"] = container["image"]


def _list_addresses(node: Object) -> list[Object]:
    return list((node.get("status") or {}).get("addresses") or ())


def _build_blank(ctx: PodContext, container: Object) -> Object:
    entry: Object = {
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "lastState": {},
        "ready": False,
        "restartCount": 0,
        "started": False,
        "state": {"waiting": {"reason": "PodInitializing" if ctx.inits else "ContainerCreating"}},
    }
    mounts = [
        {
            "name": m["name"],
            "mountPath": m["mountPath"],
            **({"readOnly": True, "recursiveReadOnly": "Disabled"} if m.get("readOnly") else {}),
        }
        for m in container.get("volumeMounts") or ()
    ]
    if mounts:
        entry["volumeMounts"] = mounts
    return entry


def _run_step(ctx: PodContext, now: float, *, changes: bool) -> bool:
    """Process one instant; return True if the pod is finished and may be deleted."""
    terminal = ctx.status["phase"] in conditions.TERMINAL
    if not terminal:
        _process_exits(ctx, now)
    gone = over = False
    # A termination that has begun goes on at the times of its own timers, between which nothing is restarted.
    if is_terminating(ctx.pod) and (changes or ctx.memory.stop_at is not None):
        gone = _terminate(ctx, now)
    elif not terminal and deadline.is_over(ctx, now):
        over = _terminate(ctx, now)
    elif not terminal and _prepare_sandbox(ctx, now):
        _run(ctx, now, changes=changes)
    if not gone and _is_finished(ctx):
        _stop_sidecars(ctx, now)
    ctx.status["phase"] = conditions.compute_phase(ctx)
    if (gone or over) and ctx.status["phase"] not in conditions.TERMINAL:
        ctx.status["phase"] = "Failed"
    sandbox = bool(ctx.status.get("podIP")) and ctx.status["phase"] not in conditions.TERMINAL
    ctx.status["conditions"] = conditions.build_conditions(ctx, sandbox, now)
    ctx.status["observedGeneration"] = ctx.pod["metadata"].get("generation", 1)
    return gone


def _process_exits(ctx: PodContext, now: float) -> None:
    for container in [*ctx.inits, *ctx.mains]:
        own = ctx.memory.of(container["name"])
        if own.exit is None or own.exit_at is None or own.exit_at > now:
            continue
        if "running" in ctx.entry(container["name"])["state"]:
            containers.end(ctx, container, own.exit, own.exit_at)
        own.exit = own.exit_at = None


def _prepare_sandbox(ctx: PodContext, now: float) -> bool:
    """Mount volumes and set up the network; mounted volumes stay mounted."""
    if ctx.status.get("podIP"):
        if ctx.memory.ready_from is None:  # the kubelet has been restarted
            ctx.memory.ready_from = now
        return True
    if ctx.memory.mount_due is not None and now < ctx.memory.mount_due:
        return False
    problems = configuration.find_missing_volumes(ctx.pod, ctx.objects)
    if problems:
        for problem in problems:
            ctx.tell(now, "FailedMount", problem, warning=True)
        wait = min(_FIRST_MOUNT_RETRY * 2**ctx.memory.mount_failures, _LAST_MOUNT_RETRY)
        ctx.memory.mount_failures += 1
        ctx.memory.mount_due = now + wait
        return False
    ctx.memory.mount_due, ctx.memory.ready_from = None, now
    address = ctx.status.get("hostIP", "") if ctx.spec.get("hostNetwork") else ctx.ip
    ctx.status["podIP"], ctx.status["podIPs"] = address, [{"ip": address}]
    return True


def _run(ctx: PodContext, now: float, *, changes: bool) -> None:
    sidecars = [c for c in ctx.inits if is_sidecar(c)]
    if changes:
        for container in [*sidecars, *ctx.mains]:
            if containers.is_changed(ctx, container):
                subject = f"{'Init container' if is_sidecar(container) else 'Container'} {container['name']}"
                containers.kill(ctx, container, f"{subject} definition changed, will be restarted", now)
    if not init_containers.advance(ctx, now):
        return
    for container in ctx.mains:
        containers.sync(ctx, container, now)
        probes.run(ctx, container, now)


def _terminate(ctx: PodContext, now: float) -> bool:
    memory = ctx.memory
    if memory.stop_at is None:
        running = [c for c in [*ctx.inits, *ctx.mains] if "running" in ctx.entry(c["name"])["state"]]
        own = ctx.spec.get("terminationGracePeriodSeconds", containers.DEFAULT_GRACE_SECONDS)
        grace = ctx.pod["metadata"].get("deletionGracePeriodSeconds", own)
        for container in running:
            containers.kill(ctx, container, f"Stopping container {container['name']}", now, grace)
        ends = [ctx.memory.of(c["name"]).exit_at for c in running]
        memory.stop_at = max((at for at in ends if at is not None), default=now)
    if now < memory.stop_at:
        return False
    for container in ctx.mains:
        ctx.entry(container["name"])["ready"] = False
    return True


def _is_finished(ctx: PodContext) -> bool:
    """Return whether no regular container is running or will restart."""
    ended = [(c, ctx.entry(c["name"])["state"].get("terminated")) for c in ctx.mains]
    return all(state is not None and not ctx.should_restart(c, state["exitCode"]) for c, state in ended)


def _stop_sidecars(ctx: PodContext, now: float) -> None:
    for container in ctx.inits:
        if is_sidecar(container) and "running" in ctx.entry(container["name"])["state"]:
            containers.kill(ctx, container, f"Stopping container {container['name']}", now)


def _find_wakeup(ctx: PodContext, after: float) -> float | None:
    """Find the next due time."""
    if ctx.status["phase"] in conditions.TERMINAL:
        return None
    memory = ctx.memory
    if memory.stop_at is not None:
        ends = [own.exit_at for own in memory.containers.values() if own.exit_at is not None]
        return max(min([*ends, memory.stop_at]), after)
    if not ctx.status.get("podIP"):
        return min((t for t in (memory.mount_due, deadline.find_deadline(ctx)) if t is not None), default=None)
    end = deadline.find_deadline(ctx)
    due = [*([] if end is None else [end]), *(t for own in memory.containers.values() for t in own.wakeups())]
    return max(min(due), after) if due else None
