"""Stirrup itself works on the files of an exported Harbor task, with a script in place of a model.

Stirrup has no file format for tasks: a task is a text, input files, a tool that ends the run, and a grader outside.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("stirrup", reason="Stirrup is not installed here: ci/peers does")

from pydantic import BaseModel
from script import INVESTIGATE
from stirrup import Agent
from stirrup.core.models import AssistantMessage, Tool, ToolCall, ToolResult, ToolUseCountMetadata
from stirrup.tools.code_backends.local import LocalCodeExecToolProvider


class Finish(BaseModel):
    """The answer, as the agent gives it."""

    answer: str


FINISH = Tool[Finish, ToolUseCountMetadata](
    name="finish", description="Give the answer.", parameters=Finish,
    executor=lambda given: ToolResult(content=given.answer, success=True, metadata=ToolUseCountMetadata()),
)  # fmt: skip


class ScriptedClient:
    """Replays scripted outputs; submits the answer file once it was printed."""

    model_slug = "scripted"
    context_window_tokens = 100_000

    def __init__(self, *commands: str) -> None:
        self._commands = list(commands)

    async def generate(self, messages: list[Any], tools: dict[str, Any]) -> AssistantMessage:
        if self._commands:
            return self._call("code_exec", {"cmd": self._commands.pop(0)})
        last = next((str(each.content) for each in reversed(messages) if each.role == "tool"), "")
        start, end = last.find("{"), last.rfind("}")
        return self._call("finish", {"answer": last[start : end + 1] if start >= 0 else "nothing"})

    def _call(self, name: str, arguments: dict[str, str]) -> AssistantMessage:
        call = ToolCall(name=name, arguments=json.dumps(arguments), tool_call_id=f"{name}-{len(self._commands)}")
        return AssistantMessage(blocks=[call])


def solve(task: Path, folder: Path, *commands: str) -> dict[str, float]:
    """Run one task and grade it with the task's own verifier."""
    folder.mkdir()
    agent = Agent(
        client=ScriptedClient(*commands), name="solver", max_turns=10, tools=[LocalCodeExecToolProvider()],
        finish_tool=FINISH,
    )  # fmt: skip

    async def play() -> str:
        files = [str(task / "environment" / "snapshot")]
        async with agent.session(output_dir=str(folder), input_files=files) as session:
            finished, _, _ = await session.run((task / "instruction.md").read_text())
        return "" if finished is None else finished.answer

    (folder / "answer.json").write_text(asyncio.run(play()))
    tests = task / "tests"
    command = [sys.executable, str(tests / "score_answer.py"), "--rules", str(tests / "rules.json")]
    done = subprocess.run([*command, "--answer", str(folder / "answer.json")], check=True, capture_output=True)
    return json.loads(done.stdout)


def test_investigating_model_scores_1_and_stopping_model_0(exported: Path, tmp_path: Path) -> None:
    script = INVESTIGATE.format(snapshot="snapshot", answer="answer.json")
    for task in sorted((exported / "harbor").iterdir()):
        right = solve(task, tmp_path / f"{task.name}-right", f"python3 - <<'END'\n{script}\nEND", "cat answer.json")
        assert right["reward"] == 1.0
        assert solve(task, tmp_path / f"{task.name}-nothing")["reward"] == 0.0
