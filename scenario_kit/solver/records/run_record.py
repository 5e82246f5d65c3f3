"""The run record that `scenario-kit score` reads (docs/scoring.md), built from journal and outcome. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scenario_kit.model.base import Value
from scenario_kit.solver.protocol.messages import EndReason
from scenario_kit.solver.records.journal import JournalEntry, JournalLine
from scenario_kit.solver.session import SessionLimits, SessionState


class RunIdentity(Value, frozen=True, kw_only=True):
    """The identity of a run; ``digest`` is the scenario's."""

    run_id: str
    scenario: str
    digest: str
    solver: str
    repeat: int
    seed: int
    version: str


class IncidentTimes(Value, frozen=True, kw_only=True):
    """Times on the incident's clock, in seconds since the epoch; None if it did not happen."""

    handed_over: float
    ended: float
    first_fault: float | None = None
    first_alert: float | None = None


class RunOutcome(Value, frozen=True, kw_only=True):
    """The state of the incident at the end. ``resolved`` is None without a mitigation stage, or if nothing is broken.

    ``because`` lists why it is not resolved; ``isolation`` describes the solver's isolation from this machine.
    """

    resolved: bool | None = None
    because: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    isolation: str = ""
    wall_seconds: float = 0.0


def build_run_record(
    identity: RunIdentity,
    limits: SessionLimits,
    state: SessionState,
    times: IncidentTimes,
    outcome: RunOutcome,
    journal: Sequence[JournalLine],
) -> dict[str, Any]:
    """Build the record of a run, without unknown fields, so that missing measurements are not scored."""
    end: EndReason = state.end or "error"
    record: dict[str, Any] = {
        "run_id": identity.run_id,
        "scenario": {"id": identity.scenario, "digest": identity.digest},
        "agent": {"name": identity.solver},
        "model": {"slug": state.model},
        "repeat": identity.repeat,
        "seed": identity.seed,
        "version": identity.version,
        "limits": limits.to_json(),
        "start": times.handed_over,
        "first_fault_ts": times.first_fault,
        "first_alert_ts": times.first_alert,
        "diagnosis_ts": state.answered_at,
        "mitigation_ts": state.mitigated_at,
        "end": times.ended,
        "stop_reason": end,
        "stop_message": state.reason,
        "turns": state.turns,
        "tool_calls": list_tool_calls(journal),
        "resolved": outcome.resolved,
        "unresolved_because": list(outcome.because),
        "changed": list(outcome.changed),
        "isolation": outcome.isolation,
        "wall_seconds": outcome.wall_seconds,
    }
    if end == "escalated":
        record["escalation"] = {"to": state.escalated_to, "reason": state.reason}
    if state.answered:
        record["answer"] = state.answer
    if state.measured:
        record["tokens"] = state.tokens.to_json()
    return {key: value for key, value in record.items() if value is not None}


def list_tool_calls(journal: Sequence[JournalLine]) -> list[dict[str, Any]]:
    """List the tool calls with their results, in order.

    A call without a result, because the run was cut short, counts as failed.
    """
    calls: list[dict[str, Any]] = []
    for entry in journal:
        if not isinstance(entry, JournalEntry):
            continue
        message = entry.message
        if message["type"] == "call":
            call = {"name": message["tool"], "args": message.get("arguments", {}), "at": entry.now}
            calls.append(call | {"valid": True, "ok": False, "output": ""})
        elif message["type"] == "result":
            calls[-1] |= {"valid": message["valid"], "ok": message["ok"], "output": message["content"]}
    return calls
