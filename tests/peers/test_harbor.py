"""Harbor itself runs exported tasks: its oracle agent, its nop agent, and one whose model is a script."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

pytest.importorskip("harbor", reason="Harbor is not installed here: ci/peers does")

from harbor.models.task.task import Task
from harbor.models.trial.config import AgentConfig, EnvironmentConfig, TaskConfig, TrialConfig
from harbor.trial.trial import Trial


def run_trial(task: Path, folder: Path, **agent: str) -> dict[str, float]:
    config = TrialConfig(
        task=TaskConfig(path=task), trials_dir=folder, agent=AgentConfig(**agent),
        environment=EnvironmentConfig(import_path="process_sandbox:ProcessSandbox"),
    )  # fmt: skip

    async def play() -> dict[str, float]:
        trial = await Trial.create(config)
        result = await trial.run()
        assert result.exception_info is None, result.exception_info
        return result.verifier_result.rewards

    return asyncio.run(play())


def is_control(task: Path) -> bool:
    return not json.loads((task / "tests" / "rules.json").read_text())["incident"]


def list_tasks(exported: Path) -> list[Path]:
    tasks = sorted((exported / "harbor").iterdir())
    assert {is_control(each) for each in tasks} == {True, False}
    return tasks


def test_exported_folders_are_harbor_tasks(exported: Path) -> None:
    for task in list_tasks(exported):
        assert Task.is_valid_dir(task)
        found = Task(task)
        assert found.name == f"scenario-kit/{task.name}"
        assert "The page may be a false alarm" in found.instruction


def test_live_tasks_are_tasks(exported: Path) -> None:
    """They need an environment with Docker Compose, so that they are only read here."""
    tasks = sorted((exported / "live").iterdir())
    assert len(tasks) == 2
    for each in tasks:
        assert Task.is_valid_dir(each)
        config = Task(each).config
        assert [server.name for server in config.environment.mcp_servers] == ["incident"]
        assert [hook.service for hook in config.verifier.collect] == ["incident"]


def test_oracle_is_1_and_nop_is_0(exported: Path, tmp_path: Path) -> None:
    for task in list_tasks(exported):
        assert run_trial(task, tmp_path / "oracle", name="oracle")["reward"] == 1.0
        assert run_trial(task, tmp_path / "nop", name="nop") == {"reward": 0.0, "answered": 0.0}


def test_investigating_agent_solves_the_task(exported: Path, tmp_path: Path) -> None:
    """It finds the Deployment without replicas, and that the control has none."""
    for task in list_tasks(exported):
        rewards = run_trial(task, tmp_path, import_path="harbor_agent:ScriptedAgent")
        assert rewards["reward"] == 1.0
        assert ("hallucination" in rewards) == is_control(task)
