"""Startup, readiness and liveness probes: schedule, results, consequences.

A probe has a timer of its own from when the pod's volumes are mounted, whatever its containers do, and runs at each
tick at which the container has been running for longer than the initial delay. In addition, a readiness probe runs
once as soon as the container has started. Source: ``worker.go`` and ``prober_manager.go`` of the kubelet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from scenario_kit.lab.kubelet.container import containers
from scenario_kit.lab.kubelet.pod import times
from scenario_kit.lab.kubelet.pod.context import PodContext
from scenario_kit.lab.kubelet.pod.pod_state import ProbeMemory
from scenario_kit.model.base import Object
from scenario_kit.model.runtime.process import Lag

_KINDS = (("Startup", "startupProbe"), ("Liveness", "livenessProbe"), ("Readiness", "readinessProbe"))


def run(ctx: PodContext, container: Object, now: float) -> None:
    """Run due probes, set ``started`` and ``ready``, and kill the container if a probe demands it."""
    name = container["name"]
    entry, own = ctx.entry(name), ctx.memory.of(name)
    running = entry["state"].get("running")
    if not running:
        entry["ready"] = entry["started"] = False
        return
    if own.probes.get("Startup") is None and not container.get("startupProbe"):
        entry["started"] = True
    for kind, key in _KINDS:
        spec = container.get(key)
        if not spec:
            own.probes.pop(kind, None)
            continue
        if kind != "Startup" and container.get("startupProbe") and not entry["started"]:
            continue
        probe, period = own.probes.get(kind), float(spec.get("periodSeconds", 10))
        since = ctx.memory.ready_from if ctx.memory.ready_from is not None else now
        if probe is None:
            started = times.parse_or(running.get("startedAt"), now)
            probe = own.probes[kind] = _begin(kind, entry, now)
            if not _runs_at_once(kind, spec, probe, now, started):
                probe.next_at = _find_tick(since, period, max(now, started + spec.get("initialDelaySeconds", 0)))
        if probe.hold or now < probe.next_at or (own.stopping and kind != "Readiness"):
            continue
        probe.next_at = _find_tick(since, period, now)
        _judge(ctx, container, kind, spec, probe, now)
        if kind == "Startup" and probe.result:
            entry["started"] = True
        if kind != "Readiness" and probe.result is False:
            message = f"Container {name} failed {kind.lower()} probe"
            again = ctx.should_restart(container, 143)
            grace = spec.get("terminationGracePeriodSeconds")
            containers.kill(ctx, container, message + (", will be restarted" if again else ""), now, grace)
            return
    readiness = own.probes.get("Readiness")
    entry["ready"] = bool(
        entry["started"] and (not container.get("readinessProbe") or (readiness and readiness.result))
    )


def _find_tick(since: float, period: float, after: float) -> float:
    """Return the first tick later than ``after`` of a timer that runs since then."""
    return since + (math.floor((after - since) / period) + 1.0) * period


def _runs_at_once(kind: str, spec: Object, probe: ProbeMemory, now: float, started: float) -> bool:
    """Return whether the kubelet runs a probe of a container that has just started, instead of at its next tick."""
    return kind == "Readiness" and probe.result is None and now >= started + spec.get("initialDelaySeconds", 0)


def _begin(kind: str, entry: Object, now: float) -> ProbeMemory:
    probe = ProbeMemory(next_at=now)
    if (kind == "Readiness" and entry.get("ready")) or (kind == "Startup" and entry.get("started")):
        probe.result = probe.last = True
        probe.hold = kind == "Startup"
    return probe


def _judge(ctx: PodContext, container: Object, kind: str, spec: Object, probe: ProbeMemory, now: float) -> None:
    port, path, target = _parse_question(ctx, container, spec)
    pod, name = ctx.current(), container["name"]
    good = ctx.processes.answers(pod, name, port, path, now)
    failure = ""
    if not good:
        open_port = port > 0 and ctx.processes.answers(pod, name, port, None, now)
        failure = _format_failure(spec, target, open_port)
    else:
        lag = ctx.processes.lag(pod, name, port, path, now)
        failure = _format_timeout(spec, target, lag) or _format_status(target, lag.status)
        good = not failure
    if failure or not good:
        ctx.tell(now, "Unhealthy", f"{kind} probe failed: {failure}", name, warning=True)
    probe.run = probe.run + 1 if probe.last is good else 1
    probe.last = good
    threshold = spec.get("successThreshold", 1) if good else spec.get("failureThreshold", 3)
    if probe.run < threshold:
        return
    probe.result = good
    probe.hold = kind == "Startup" or (kind == "Liveness" and not good)


def _parse_question(ctx: PodContext, container: Object, spec: Object) -> tuple[int, str | None, str]:
    """Return the port and path to probe, and the address as the kubelet prints it."""
    ip = ctx.status.get("podIP", "")
    if http := spec.get("httpGet"):
        port = _find_port(container, http["port"])
        path = http.get("path") or "/"
        return port, path, f"{http.get('scheme', 'HTTP').lower()}://{http.get('host') or ip}:{port}{path}"
    if grpc := spec.get("grpc"):
        return grpc["port"], f"grpc:{grpc.get('service') or ''}", f"{ip}:{grpc['port']}"
    if tcp := spec.get("tcpSocket"):
        port = _find_port(container, tcp["port"])
        return port, None, f"{tcp.get('host') or ip}:{port}"
    command = (spec.get("exec") or {}).get("command") or ()
    return 0, "exec:" + " ".join(command), ""


def _format_failure(spec: Object, target: str, open_port: bool) -> str:
    address = target.split("://")[-1].split("/")[0]
    refused = f"dial tcp {address}: connect: connection refused"
    if "httpGet" in spec:
        return "HTTP probe failed with statuscode: 404" if open_port else f'Get "{target}": {refused}'
    if "grpc" in spec:
        if open_port:
            return 'service unhealthy (responded with "NOT_SERVING")'
        cause = f'connection error: desc = "transport: Error while dialing: {refused}"'
        return f'error: failed to connect service at "{address}": {cause}'
    return refused if "tcpSocket" in spec else _format_complaint((spec.get("exec") or {}).get("command") or ())


def _format_timeout(spec: Object, target: str, lag: Lag) -> str:
    """Return the kubelet's message for a probe that times out; empty if the response is in time."""
    patience = spec.get("timeoutSeconds", 1)
    if lag.answers <= patience:
        return ""
    address, connected = target.split("://")[-1].split("/")[0], lag.connects <= patience
    if "httpGet" in spec:
        cause = "context deadline exceeded" if connected else f"dial tcp {address}: i/o timeout"
        return f'Get "{target}": {cause} (Client.Timeout exceeded while awaiting headers)'
    if "grpc" in spec:
        if connected:
            return f"timeout: health rpc did not complete within {patience}s"
        return f'timeout: failed to connect service "{address}" within {patience}s: context deadline exceeded'
    if "tcpSocket" in spec:
        return f"dial tcp {address}: i/o timeout"
    command = " ".join((spec.get("exec") or {}).get("command") or ())
    return f'command timed out: "{command}" timed out after {patience}s'


def _format_status(target: str, status: int) -> str:
    """Return the kubelet's message for an HTTP response; empty for a status that it takes for success."""
    if not status:
        return f'Get "{target}": EOF'
    return "" if status < 400 else f"HTTP probe failed with statuscode: {status}"


def _format_complaint(command: Sequence[str]) -> str:
    """Return the output of a failing probe command if it is known; the kubelet's message is that output."""
    if command and command[0] in ("cat", "ls", "stat") and command[-1].startswith("/"):
        return f"{command[0]}: {command[-1]}: No such file or directory"
    return ""


def _find_port(container: Object, port: int | str) -> int:
    if isinstance(port, int):
        return port
    named = next((p["containerPort"] for p in container.get("ports") or () if p.get("name") == port), None)
    return int(port) if named is None and port.isdigit() else int(named or -1)
