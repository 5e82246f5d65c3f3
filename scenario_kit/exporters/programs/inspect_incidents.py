"""An Inspect task of incidents; samples and truths are beside this file (scenario-kit, docs/export.md).

Usage: inspect eval incidents.py --model MODEL            a container for each sample
       inspect eval incidents.py --model MODEL -T sandbox=local      no container: only for trusted solvers
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.agent import AgentPrompt, react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Target, grouped, mean, scorer, stderr
from inspect_ai.solver import TaskState
from inspect_ai.tool import bash, python
from inspect_ai.util import sandbox as current_sandbox
from score_answer import score_answer

FOLDER = Path(__file__).resolve().parent
ANSWER = "answer.json"
SECONDS = 180


@task
def incidents(sandbox: str = "docker", messages: int = 200) -> Task:
    """All incidents and controls: find the root cause, or state that there is none."""
    samples = [_build_sample(folder, sandbox) for folder in sorted((FOLDER / "samples").iterdir())]
    prompt = AgentPrompt(submit_prompt=f"When `{ANSWER}` is written, call {{submit}}() with a short summary.")
    return Task(
        dataset=MemoryDataset(samples, name="incidents"),
        solver=react(prompt=prompt, tools=[bash(timeout=SECONDS), python(timeout=SECONDS)]),
        scorer=recall_gated_precision(),
        message_limit=messages,
    )


def _build_sample(folder: Path, sandbox: str) -> Sample:
    rules = json.loads((FOLDER / "truths" / f"{folder.name}.json").read_text(encoding="utf-8"))
    local = sandbox == "local"
    return Sample(
        id=folder.name,
        input=(folder / "instruction.md").read_text(encoding="utf-8"),
        metadata={"kind": "incident" if rules["incident"] else "control"},
        sandbox="local" if local else (sandbox, str(folder / "compose.yaml")),
        setup=f"cp -r {shlex.quote(str(folder / 'snapshot'))} snapshot" if local else None,
    )


@scorer(metrics=[grouped(mean(), "kind"), stderr()])
def recall_gated_precision() -> Any:
    """0 if a root cause is missing, else the share of right claims; for a control, 1 for an answer without claims."""

    async def score(state: TaskState, target: Target) -> Score:
        del target  # the truth is read from a file
        try:
            text: str | None = await current_sandbox().read_file(ANSWER)
        except (FileNotFoundError, IsADirectoryError, PermissionError, UnicodeDecodeError, ValueError, OSError):
            text = None
        rules = json.loads((FOLDER / "truths" / f"{state.sample_id}.json").read_text(encoding="utf-8"))
        result = score_answer(rules, text)
        summary = result["problem"] or ", ".join(f"{each['claim']}: {each['verdict']}" for each in result["decisions"])
        rewards = result["rewards"]
        return Score(value=rewards["reward"], answer=text, explanation=summary, metadata=rewards)

    return score
