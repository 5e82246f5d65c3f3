"""A run as a trajectory of ATIF, the Agent Trajectory Interchange Format 1.8 of Harbor. Pure: a journal → a document.

Format: https://github.com/laude-institute/harbor, docs/rfcs/0001-trajectory-format.md. Its readers
refuse unknown fields, so additional data is in ``extra``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from scenario_kit.scoring.runs.usage import TokenCounts
from scenario_kit.solver.records.journal import BadLineEntry, JournalEntry, JournalLine
from scenario_kit.solver.records.run_record import RunIdentity
from scenario_kit.solver.session import SessionState

VERSION: Final = "ATIF-v1.8"
#: Solver messages rendered as tool calls, and the fields that become their arguments.
_ACTIONS: Final = {"submit": ("answer",), "escalate": ("reason", "to", "answer"), "stop": ("reason",)}
#: The field with the text of each kit message.
_TEXT_FIELDS: Final = {"result": "content", "stage": "stage", "refusal": "problem", "end": "message"}


def build_trajectory(identity: RunIdentity, state: SessionState, journal: Sequence[JournalLine]) -> dict[str, Any]:
    """Build the trajectory of a run. A note becomes the message of the next step, or a separate step at the end."""
    steps = _StepList()
    for entry in journal:
        steps.add(entry)
    steps.flush()
    tokens = state.tokens
    agent: dict[str, Any] = {
        "name": identity.solver, "version": "unknown", "tool_definitions": steps.tools,
        "extra": {"kit": identity.version},
    }  # fmt: skip
    if state.model:
        agent["model_name"] = state.model
    totals: dict[str, Any] = {"total_steps": len(steps.steps)}
    if state.measured:
        totals |= {f"total_{key}": value for key, value in _spell_tokens(tokens).items()}
    name = f"{identity.scenario}/{identity.run_id}"
    ended = {"stop_reason": state.end or "error", "stop_message": state.reason, "turns": state.turns}
    return {
        "schema_version": VERSION, "session_id": name, "trajectory_id": name, "agent": agent, "steps": steps.steps,
        "final_metrics": totals,
        "extra": {"scenario": identity.scenario, "digest": identity.digest, "repeat": identity.repeat,
                  "seed": identity.seed, **ended},
    }  # fmt: skip


class _StepList:
    """The steps so far, with pending notes and tokens."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []
        self.tools: list[dict[str, Any]] = []
        self._notes: list[tuple[str, JournalLine]] = []
        self._waiting = TokenCounts()

    def add(self, entry: JournalLine) -> None:
        """Add a journal line."""
        if isinstance(entry, BadLineEntry):
            self._add_step("agent", entry.text, entry)
            return
        kind = entry.message["type"]
        if entry.sender == "kit":
            self._add_kit_message(kind, entry)
        elif kind == "note":
            self._notes.append((entry.message["text"], entry))
        elif kind == "usage":
            self._count(entry.message["tokens"])
        elif kind == "call":
            self._act(entry.message["tool"], entry.message.get("arguments") or {}, entry)
        else:
            given = {key: entry.message[key] for key in _ACTIONS[kind] if entry.message.get(key) is not None}
            self._act(kind, given, entry)

    def flush(self) -> None:
        """Turn pending notes into a step."""
        if self._notes:
            text, entry = "\n".join(text for text, _ in self._notes), self._notes[-1][1]
            self._notes = []
            self._add_step("agent", text, entry)

    def _act(self, function: str, arguments: dict[str, Any], entry: JournalLine) -> None:
        """Add a tool call; calls are numbered by step, since a solver's own identifiers may repeat."""
        text, self._notes = "\n".join(text for text, _ in self._notes), []
        step = self._add_step("agent", text, entry)
        step["tool_calls"] = [
            {"tool_call_id": f"call-{step['step_id']}", "function_name": function, "arguments": arguments}
        ]

    def _add_kit_message(self, kind: str, entry: JournalEntry) -> None:
        message = entry.message
        if kind == "start":
            self.tools = [{"type": "function", "function": dict(tool)} for tool in message["tools"]]
            self._add_step("user", f"{message['brief']}\n\nAnswer: {message['answer']}", entry)
            return
        text = str(message.get(_TEXT_FIELDS[kind]) or message.get("reason") or "")
        calls = self.steps[-1].get("tool_calls") if self.steps else None
        if calls and "observation" not in self.steps[-1] and not self._notes:
            result: dict[str, Any] = {"source_call_id": calls[0]["tool_call_id"], "content": text}
            if kind == "result":
                result["extra"] = {"ok": message["ok"], "valid": message["valid"]}
            self.steps[-1]["observation"] = {"results": [result]}
        else:
            self.flush()
            self._add_step("system", f"{kind}: {text}", entry)

    def _add_step(self, source: str, text: str, entry: JournalLine) -> dict[str, Any]:
        step: dict[str, Any] = {
            "step_id": len(self.steps) + 1, "timestamp": _format_time(entry.wall), "source": source, "message": text,
            "extra": {"incident_time": _format_time(entry.now)},
        }  # fmt: skip
        if source == "agent" and self._waiting.total:
            step["metrics"], self._waiting = _spell_tokens(self._waiting), TokenCounts()
        self.steps.append(step)
        return step

    def _count(self, tokens: dict[str, Any]) -> None:
        """Add tokens to the solver's last step, or to its first one if there is none yet."""
        used = TokenCounts.from_json(tokens)
        last = next((step for step in reversed(self.steps) if step["source"] == "agent"), None)
        if last is None:
            self._waiting += used
            return
        before = last.get("metrics", {})
        last["metrics"] = {key: before.get(key, 0) + value for key, value in _spell_tokens(used).items()}


def _spell_tokens(tokens: TokenCounts) -> dict[str, int]:
    """Convert counts to ATIF's: prompt tokens include cached ones, completion tokens include reasoning."""
    return {
        "prompt_tokens": tokens.input + tokens.cached, "completion_tokens": tokens.output + tokens.reasoning,
        "cached_tokens": tokens.cached,
    }  # fmt: skip


def _format_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
