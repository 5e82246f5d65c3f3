"""The lifecycle of one container: pull, configure, start, exit, back off, restart.

Order, reasons and wording follow ``kuberuntime`` of Kubernetes 1.34 with containerd.
"""

from __future__ import annotations

import hashlib

from scenario_kit.lab.kubelet.container import configuration
from scenario_kit.lab.kubelet.image import images
from scenario_kit.lab.kubelet.image.processes import START_ERROR
from scenario_kit.lab.kubelet.image.shell_idioms import measure_sleep
from scenario_kit.lab.kubelet.pod import backoff, times
from scenario_kit.lab.kubelet.pod.context import Line, PodContext, Restarted
from scenario_kit.lab.kubelet.pod.pod_state import ContainerMemory
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.image import normalize_image
from scenario_kit.model.kubernetes.timestamp import format_timestamp
from scenario_kit.model.runtime.process import Exit

#: The period after which the kubelet retries a pod that could not be synced.
SYNC_SECONDS = 12.0
#: The period after which it checks a pod again when a container's state has changed.
RELIST_SECONDS = 1.0
#: The default of ``terminationGracePeriodSeconds``, and the exit code after SIGKILL.
DEFAULT_GRACE_SECONDS = 30.0
#: The time between SIGTERM and SIGKILL, however short the grace period is, or what the hook leaves of it.
MIN_GRACE_SECONDS = 2.0
KILLED = 137
_NEVER_STARTED = "1970-01-01T00:00:00Z"


def make_container_id(uid: str, name: str, attempt: int) -> str:
    """Make the ID of a container instance, deterministic in pod, container and attempt."""
    return "containerd://" + hashlib.sha256(f"{uid}/{name}/{attempt}".encode()).hexdigest()


def set_waiting(entry: Object, reason: str, message: str = "") -> None:
    """Set a container's state to waiting; a terminated state becomes its last state."""
    ended = entry["state"].get("terminated")
    if ended:
        entry["lastState"] = {"terminated": ended}
    entry["state"] = {"waiting": {"reason": reason, **({"message": message} if message else {})}}
    entry["ready"] = entry["started"] = False


def end(ctx: PodContext, container: Object, exit: Exit, at: float) -> None:
    """Terminate a container with an exit."""
    entry, own = ctx.entry(container["name"]), ctx.memory.of(container["name"])
    reason = exit.reason or ("Completed" if exit.code == 0 else "Error")
    ended: Object = {"exitCode": exit.code, "reason": reason}
    running = entry["state"].get("running") or {}
    ended["startedAt"] = running.get("startedAt") or format_timestamp(at)
    ended["finishedAt"] = format_timestamp(at)
    ended["containerID"] = entry.get("containerID", "")
    if exit.text and exit.code != 0 and container.get("terminationMessagePolicy") == "FallbackToLogsOnError":
        ended["message"] = exit.text[-2048:]
    entry["state"] = {"terminated": ended}
    entry["ready"] = entry["started"] = False
    # One sync kills a container and starts the next: the back-off that applies is that of the previous instance.
    before = own.finished_at
    own.spared = own.stopping and (before is None or backoff.waits_until(own.crash, before, at) is None)
    own.finished_before, own.finished_at, own.refused = before, at, own.stopping
    own.exit, own.exit_at, own.poll_at, own.stopping = None, None, None, False
    own.due = at
    own.probes.clear()


def kill(ctx: PodContext, container: Object, message: str, at: float, grace: float | None = None) -> None:
    """Stop a running container: preStop hook, SIGTERM, and SIGKILL after the grace period (default: the pod's).

    No effect on a container that is already stopping.
    """
    name = container["name"]
    own = ctx.memory.of(name)
    if own.stopping:
        return
    ctx.tell(at, "Killing", message, name)
    if grace is None:
        grace = ctx.spec.get("terminationGracePeriodSeconds", DEFAULT_GRACE_SECONDS)
    stop = ctx.processes.stop(ctx.current(), name, at)
    hooked = min(_read_pre_stop(container), grace)
    left = max(grace - hooked, MIN_GRACE_SECONDS)
    killed = stop.after_seconds > left
    code = KILLED if killed else stop.code
    ends = at + hooked + (left if killed else stop.after_seconds)
    if own.exit is None or own.exit_at is None or own.exit_at > ends:
        own.exit = Exit(ctx.pod["metadata"]["uid"], name, code, "Completed" if code == 0 else "Error")
        own.exit_at = ends
    own.stopping = True
    if own.exit_at <= at:
        end(ctx, container, own.exit, at)


def _read_pre_stop(container: Object) -> float:
    """Return the seconds that a preStop hook takes: those that it sleeps."""
    hook = (container.get("lifecycle") or {}).get("preStop") or {}
    if "exec" in hook:
        return measure_sleep(hook["exec"].get("command") or ())
    return float((hook.get("sleep") or {}).get("seconds", 0))


def is_changed(ctx: PodContext, container: Object) -> bool:
    """Return whether a running container's image differs from its spec."""
    entry = ctx.entry(container["name"])
    return "running" in entry["state"] and entry["image"] != normalize_image(container["image"])


def sync(ctx: PodContext, container: Object, now: float) -> None:
    """Start a container that should be running, or set why it cannot start."""
    name = container["name"]
    entry, own = ctx.entry(name), ctx.memory.of(name)
    if "running" in entry["state"]:
        own.due = None
        return
    ended = entry["state"].get("terminated") or (entry.get("lastState") or {}).get("terminated")
    if ended and entry.get("containerID") and not ctx.should_restart(container, ended["exitCode"]):
        own.due = None
        return
    if own.image != container["image"]:
        own.image, own.crash, own.pull, own.pull_done_at, own.due = container["image"], None, None, None, None
    if own.due is not None and now < own.due:
        return
    own.due = None
    if (
        _is_backing_off(ctx, container, entry, own, now)
        or not _is_image_ready(ctx, container, entry, own, now)
        or _is_misconfigured(ctx, container, entry, own, now)
    ):
        return
    event = own.finished_before if own.spared else own.finished_at
    if event is not None:
        own.crash = backoff.record_attempt(own.crash, event, now)
    own.spared = own.refused = False
    _start(ctx, container, entry, own, now)


def _is_backing_off(ctx: PodContext, container: Object, entry: Object, own: ContainerMemory, now: float) -> bool:
    if own.finished_at is None or own.spared or own.pull_done_at is not None or own.pull is not None:
        return False
    if own.crash is None:
        return False
    name = container["name"]
    message = f"back-off {times.go_duration(own.crash.seconds)} restarting failed container={name} pod={ctx.reference}"
    refused = own.refused  # what one sync finds is in the status from the next one on
    if backoff.waits_until(own.crash, own.finished_at, now) is None:
        if not refused or "terminated" not in entry["state"]:
            return False
        set_waiting(entry, "CrashLoopBackOff", message)
        own.due = now + RELIST_SECONDS
        return True
    own.refused = True
    if refused or "waiting" in entry["state"]:
        set_waiting(entry, "CrashLoopBackOff", message)
    ctx.tell(now, "BackOff", f"Back-off restarting failed container {name} in pod {ctx.reference}", name, warning=True)
    own.due = now + SYNC_SECONDS
    return True


def _is_image_ready(ctx: PodContext, container: Object, entry: Object, own: ContainerMemory, now: float) -> bool:
    """Return whether the image is on the node; if not, report the obstacle or advance the pull."""
    name, image = container["name"], container["image"]
    node = ctx.spec["nodeName"]
    policy = container.get("imagePullPolicy", "IfNotPresent")
    if not images.is_valid(image):
        reason = f'couldn\'t parse image name "{image}": {images.explain_invalid(image)}'
        message = f'Failed to apply default image tag "{image}": {reason}'
        ctx.tell(now, "InspectFailed", message, name, warning=True)
        _refuse(ctx, entry, own, name, "InvalidImageName", message, now)
        return False
    present = ctx.images.present(node, image, now) or any(image == name for name, _ in ctx.pulled)
    if present and policy != "Always":
        own.pull, own.pull_started_at, own.pull_done_at = None, None, None  # another pod pulled it first
        ctx.tell(now, "Pulled", f'Container image "{image}" already present on machine', name)
        return True
    if policy == "Never":
        message = f'Container image "{image}" is not present with pull policy of Never'
        ctx.tell(now, "ErrImageNeverPull", message, name, warning=True)
        _refuse(ctx, entry, own, name, "ErrImageNeverPull", message, now)
        return False
    if own.pull_done_at is None and not _pull_begun(ctx, container, entry, own, present=present, now=now):
        return False
    return _pull_ended(ctx, container, entry, own, now)


def _pull_begun(
    ctx: PodContext, container: Object, entry: Object, own: ContainerMemory, *, present: bool, now: float
) -> bool:
    """Start a pull unless in back-off; for ``present`` images, only the manifest is resolved."""
    name, image = container["name"], container["image"]
    until = None if own.pull is None else backoff.waits_until(own.pull, own.pull.updated, now)
    if until is not None:
        ctx.tell(now, "BackOff", f'Back-off pulling image "{image}"', name)
        message = f'Back-off pulling image "{image}": {own.pull_message}'
        _refuse(ctx, entry, own, name, "ImagePullBackOff", message, now)
        own.due = now + SYNC_SECONDS
        return False
    ctx.tell(now, "Pulling", f'Pulling image "{image}"', name)
    # A registry's refusal, and a manifest that is already present, take negligible time.
    quick = present or not ctx.processes.image_exists(image)
    own.pull_started_at, own.pull_done_at = now, now + (0.0 if quick else images.pull_seconds(image))
    return True


def _pull_ended(ctx: PodContext, container: Object, entry: Object, own: ContainerMemory, now: float) -> bool:
    """Return whether the pull in progress has finished successfully."""
    name, image = container["name"], container["image"]
    assert own.pull_done_at is not None
    if now < own.pull_done_at:
        own.due = own.pull_done_at
        return False
    took = times.go_duration(own.pull_done_at - (own.pull_started_at or own.pull_done_at) or 0.312)
    own.pull_done_at = None
    if not ctx.processes.image_exists(image):
        reason = images.explain_not_found(image)
        ctx.tell(now, "Failed", f'Failed to pull image "{image}": {reason}', name, warning=True)
        own.pull, own.pull_message = backoff.record_attempt(own.pull, now, now), f"ErrImagePull: {reason}"
        _refuse(ctx, entry, own, name, "ErrImagePull", reason, now)
        own.due = now + RELIST_SECONDS
        return False
    own.pull, own.pull_message = None, ""
    ctx.pulled.append((image, now))
    ctx.tell(
        now,
        "Pulled",
        f'Successfully pulled image "{image}" in {took} ({took} including waiting). '
        f"Image size: {images.size_bytes(image)} bytes.",
        name,
    )
    return True


def _is_misconfigured(ctx: PodContext, container: Object, entry: Object, own: ContainerMemory, now: float) -> bool:
    problem = configuration.find_missing_environment(container, ctx.pod["metadata"]["namespace"], ctx.objects)
    if not problem:
        return False
    ctx.tell(now, "Failed", f"Error: {problem}", container["name"], warning=True)
    set_waiting(entry, "CreateContainerConfigError", problem)
    own.due = now + SYNC_SECONDS
    return True


def _refuse(
    ctx: PodContext, entry: Object, own: ContainerMemory, name: str, reason: str, message: str, now: float
) -> None:
    ctx.tell(now, "Failed", f"Error: {reason}", name, warning=True)
    set_waiting(entry, reason, message)
    own.due = now + SYNC_SECONDS


def _start(ctx: PodContext, container: Object, entry: Object, own: ContainerMemory, now: float) -> None:
    name = container["name"]
    attempt = entry["restartCount"] + 1 if entry.get("containerID") else 0
    ended = entry["state"].get("terminated")
    if ended:
        entry["lastState"] = {"terminated": ended}
    entry.update(
        containerID=make_container_id(ctx.pod["metadata"]["uid"], name, attempt),
        image=normalize_image(container["image"]),
        imageID=images.make_image_id(container["image"]),
        restartCount=attempt,
        state={"running": {"startedAt": format_timestamp(now)}},
    )
    resources = container.get("resources") or {}
    entry["resources"] = resources
    if resources.get("requests"):
        entry["allocatedResources"] = resources["requests"]
    ctx.tell(now, "Created", f"Created container: {name}", name)
    ctx.output.append(Restarted(name, attempt, now))
    own.probes.clear()
    if any(c["name"] == name and c.get("restartPolicy") != "Always" for c in ctx.inits):
        ctx.tell(now, "Started", f"Started container {name}", name)
        own.poll_at = now
        return
    start = ctx.processes.start(ctx.current(), name, now)
    if start.exit is not None and start.exit.reason == START_ERROR:
        _start_failed(ctx, container, entry, own, start.exit, now)
        return
    ctx.tell(now, "Started", f"Started container {name}", name)
    if start.exit is not None:
        own.exit, own.exit_at = start.exit, now + start.listens_after_seconds
        ctx.output.extend(Line(name, own.exit_at, text) for text in start.lines)


def _start_failed(
    ctx: PodContext, container: Object, entry: Object, own: ContainerMemory, exit: Exit, now: float
) -> None:
    message = exit.text or start_error(container)
    ctx.tell(now, "Failed", f"Error: {message}", container["name"], warning=True)
    ended = {
        "exitCode": exit.code,
        "reason": START_ERROR,
        "message": message,
        "startedAt": _NEVER_STARTED,
        "finishedAt": format_timestamp(now),
        "containerID": entry.get("containerID", ""),
    }
    own.finished_at = now
    entry["state"] = {"terminated": ended}
    entry["ready"] = entry["started"] = False
    if ctx.should_restart(container, exit.code):
        set_waiting(entry, "RunContainerError", message)
        own.due = now + RELIST_SECONDS


def start_error(container: Object) -> str:
    """Return the runtime's error for a command that does not exist."""
    program = next(iter(container.get("command") or container.get("args") or ()), "")
    cause = (
        f'exec: "{program}": stat {program}: no such file or directory'
        if program.startswith("/")
        else f'exec: "{program}": executable file not found in $PATH'
    )
    return (
        "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
        f"unable to start container process: error during container init: {cause}: unknown"
    )
