"""Preview of a scenario's objects, changes and timeline, for ``scenario-kit render``."""

from __future__ import annotations

from scenario_kit.model import Change, Fault, Object, Runbook, Value
from scenario_kit.model.authored.alert_rule import compute_alert_deadline, name_alert
from scenario_kit.model.authored.scenario import AlertExpectation
from scenario_kit.render.scenarios.noise import Event, list_events


class PreviewStage(Value, frozen=True, kw_only=True):
    """A stage of a paired repeat. ``starts_at`` (from the end of the deployment) and ``seconds`` are in seconds."""

    name: str
    starts_at: int
    seconds: int
    what: str = ""


class Preview(Value, frozen=True, kw_only=True):
    """Objects of the app, changes of each fault and procedure, the planned timeline, and background noise."""

    scenario: str
    digest: str
    objects: tuple[Object, ...]
    rules: tuple[str, ...]
    changes: dict[str, tuple[Change, ...]]
    timeline: tuple[PreviewStage, ...]
    noise: tuple[PreviewStage, ...] = ()


def build_preview(runbook: Runbook, seed: int = 1) -> Preview:
    """Build the preview of a paired repeat, with the latest end of each stage.

    ``seed`` determines the noise; the first trial of a validation uses 1 by default.
    """
    changes = {f"Fault {f.name}": f.changes for f in runbook.faults}
    changes |= {f"{p.use} {p.name}": p.solution.changes for p in runbook.procedures}
    timeline = _build_timeline(runbook)
    end = max((s.starts_at + s.seconds for s in timeline), default=0)
    return Preview(
        scenario=runbook.scenario,
        digest=runbook.digest,
        objects=runbook.objects,
        rules=tuple(dict.fromkeys(r.name for r in runbook.rules)),
        changes=changes,
        timeline=timeline,
        noise=tuple(_stage(e) for e in list_events(runbook.noise, seed, 0.0, float(end))),
    )


def _stage(event: Event) -> PreviewStage:
    seconds = 0 if event.until is None else int(event.until - event.at)
    change = event.change
    if replicas := change.operation.count_replicas():
        what = f"{change.target} has {replicas} replicas"
    else:
        what = f"{event.users} users" if event.users else f"{change.target} restarts"
    return PreviewStage(name=f"noise {event.source}", starts_at=int(event.at), seconds=seconds, what=what)


def _build_timeline(runbook: Runbook) -> tuple[PreviewStage, ...]:
    windows = runbook.windows
    planned: list[tuple[str, int, str]] = [("quiet", windows.quiet, "nothing fires")]
    for fault in runbook.faults:
        role = "" if fault.role == "Cause" else f" ({fault.role})"
        reported = f"{fault.type} on {fault.target}{role}{_describe_gate(fault)}"
        planned.append((f"inject {fault.name}", fault.start.after_seconds or 0, reported))
    must = [a for a in runbook.expect.alerts if a.alert_class == "MustFire"]
    if runbook.outcome != "NoIncident":
        planned.append(
            (
                "alerts",
                max((compute_due(runbook, a) for a in must), default=0),
                ", ".join(name_alert(a) for a in must),
            )
        )
    nothing = runbook.outcome == "NoIncident"
    planned.append(("hold", windows.hold, "no intervention, and nothing fires" if nothing else "no intervention"))
    if runbook.outcome == "Benign":
        planned.append(("pass", windows.resolve, "it clears without anybody acting"))
    for procedure in runbook.procedures:
        if procedure.use == "Decoy":
            planned.append((f"decoy {procedure.name}", windows.still_firing, "clears nothing"))
    solution = next((p for p in runbook.procedures if p.use == "Solution"), None)
    if solution:
        planned.append((f"solution {solution.name}", windows.resolve, "resolved, and clear for the clear window"))
    stages, now = [], 0
    for name, seconds, what in planned:
        stages.append(PreviewStage(name=name, starts_at=now, seconds=seconds, what=what))
        now += seconds
    return tuple(stages)


def _describe_gate(fault: Fault) -> str:
    start = fault.start
    if start.after_fault:
        return f", once {start.after_fault} is {start.is_.lower()}"
    if start.on_alert:
        on = f" on {start.on_alert.entity}" if start.on_alert.entity else ""
        return f", once {start.on_alert.name} fires{on}"
    return ""


def compute_due(runbook: Runbook, alert: AlertExpectation) -> int:
    """Compute the deadline of an alert in seconds after injection: the declared one, else derived from its rule."""
    return compute_alert_deadline(runbook.rules, alert.name, alert.within_seconds, period=runbook.windows.period)
