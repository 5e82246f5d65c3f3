"""Init containers: run in sequence, each to completion; sidecars among them keep running."""

from __future__ import annotations

from scenario_kit.lab.kubelet.container import containers, probes
from scenario_kit.lab.kubelet.image.processes import START_ERROR
from scenario_kit.lab.kubelet.pod.context import Line, PodContext
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.pod_spec import is_sidecar
from scenario_kit.model.runtime.process import Exit

#: The polling period of a running init container, the usual pause of a waiting script. On a common grid, so that many
#: waiting pods are polled together.
POLL_SECONDS = 2.0


def advance(ctx: PodContext, now: float) -> bool:
    """Advance the init containers; return True once the regular containers may start."""
    begun = any(ctx.entry(c["name"]).get("containerID") for c in ctx.mains)
    for container in ctx.inits:
        if is_sidecar(container):
            containers.sync(ctx, container, now)
            probes.run(ctx, container, now)
            if not begun and not ctx.entry(container["name"])["started"]:
                return False
        elif not begun and not _is_done(ctx, container, now):
            return False
    return True


def _is_done(ctx: PodContext, container: Object, now: float) -> bool:
    name = container["name"]
    entry = ctx.entry(name)
    ended = entry["state"].get("terminated")
    if ended and ended["exitCode"] == 0:
        ctx.memory.of(name).due = None
        return True
    containers.sync(ctx, container, now)
    if "running" in entry["state"]:
        _poll(ctx, container, now)
    done = (entry["state"].get("terminated") or {}).get("exitCode") == 0
    entry["ready"] = done
    if done:
        ctx.memory.of(name).due = None
    elif "terminated" in entry["state"]:
        containers.sync(ctx, container, now)
    return done


def _poll(ctx: PodContext, container: Object, now: float) -> None:
    name = container["name"]
    own = ctx.memory.of(name)
    if own.poll_at is not None and now < own.poll_at:
        return
    state = ctx.processes.init(ctx.current(), name, now)
    ctx.output.extend(Line(name, now, text) for text in state.lines)
    if state.state == "Running":
        own.poll_at = (now // POLL_SECONDS + 1) * POLL_SECONDS
        return
    code = 0 if state.state == "Succeeded" else state.code or 1
    reason = "Completed" if code == 0 else START_ERROR if code == 128 else "OOMKilled" if code == 137 else "Error"
    containers.end(ctx, container, Exit(ctx.pod["metadata"]["uid"], name, code, reason), now)
