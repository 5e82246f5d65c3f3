"""The record of a run, as `scenario-kit score` reads it (docs/scoring.md). Pure: a journal and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scenario_kit.model.base import Value
from scenario_kit.solver.protocol.messages import EndReason
from scenario_kit.solver.records.journal import JournalEntry, JournalLine
from scenario_kit.solver.session.machine import SessionLimits, SessionState


class RunIdentity(Value, frozen=True, kw_only=True):
    """Which run: of which scenario, by which solver, under which seed. ``digest`` is that of the scenario."""

    run_id: str
    scenario: str
    digest: str
    solver: str
    repeat: int
    seed: int
    version: str


class IncidentTimes(Value, frozen=True, kw_only=True):
    """Seconds since the epoch on the incident's clock; None where it did not come to that, as without an incident."""

    handed_over: float
    ended: float
    first_fault: float | None = None
    first_alert: float | None = None


class RunOutcome(Value, frozen=True, kw_only=True):
    """What the incident was like at the end. ``resolved`` is None where mitigation was no stage, or nothing is broken.

    ``because`` says why it is not resolved; ``isolation`` how the solver was kept apart from this machine.
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
    """Build the record of a run. What is not known is left out, so that nothing is measured that was not."""
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
    if state.answered:
        record["answer"] = state.answer
    if state.measured:
        record["tokens"] = state.tokens.to_json()
    return {key: value for key, value in record.items() if value is not None}


def list_tool_calls(journal: Sequence[JournalLine]) -> list[dict[str, Any]]:
    """List the calls of tools with what they answered, in the order in which they were made.

    One whose answer is not there (the run was cut short) did not do what it should.
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
