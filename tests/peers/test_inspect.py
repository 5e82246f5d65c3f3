"""Inspect itself evaluates the exported task, with a script in place of a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="Inspect is not installed here: ci/peers does")

from inspect_ai import eval as run_eval
from inspect_ai.model import ModelAPI, ModelOutput, get_model
from script import INVESTIGATE


def evaluate(folder: Path, *outputs: ModelOutput) -> dict[str, Any]:
    """Evaluate with a model of scripted outputs, one sample at a time; return scores by sample."""
    log = evaluate_log(folder, [*outputs] * 2)
    return {sample.id: sample.scores["recall_gated_precision"] for sample in log.samples}


def evaluate_log(folder: Path, outputs: list[ModelOutput]) -> Any:
    responses: Iterator[ModelOutput] = iter(outputs)
    model = get_model("mockllm/model", custom_outputs=responses)
    (log,) = run_eval(
        "incidents.py", task_args={"sandbox": "local"}, model=model,
        log_dir=str(folder), max_samples=1, display="none",
    )  # fmt: skip
    assert log.status == "success", log.error
    assert len(log.samples) == 2
    return log


@pytest.fixture(autouse=True)
def _beside_the_task(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inspect takes paths of tasks that are relative."""
    monkeypatch.chdir(exported / "inspect" / "incidents")


@pytest.fixture(autouse=True)
def _count_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting the tokens of a model takes a table from the network, and a script has none."""

    async def count(_: ModelAPI, text: str) -> int:
        return len(text.split())

    monkeypatch.setattr(ModelAPI, "count_text_tokens", count)


def use(tool: str, **arguments: str) -> ModelOutput:
    return ModelOutput.for_tool_call("mockllm/model", tool, arguments)


def test_investigating_model_scores_1(tmp_path: Path) -> None:
    script = INVESTIGATE.format(snapshot="snapshot", answer="answer.json")
    log = evaluate_log(tmp_path, [use("python", code=script), use("submit", answer="done")] * 2)
    assert [sample.scores["recall_gated_precision"].value for sample in log.samples] == [1.0, 1.0]
    (result,) = [each for each in log.results.scores if each.name == "recall_gated_precision"]
    assert result.metrics["incident"].value == result.metrics["control"].value == 1.0
    messages = [message.text for sample in log.samples for message in sample.messages]
    assert not [text for text in messages if "rules" in text]


def test_idle_model_scores_0(tmp_path: Path) -> None:
    scores = evaluate(tmp_path, use("submit", answer="nothing found"))
    assert {score.value for score in scores.values()} == {0.0}
    assert {score.explanation for score in scores.values()} == {"there is no answer"}


def test_always_claiming_model_fails_the_control(tmp_path: Path) -> None:
    claim = '{"contributing_factors": [{"name": "otel-demo/Deployment/cart"}]}'
    write = use("bash", command=f"echo '{claim}' > answer.json")
    scores = evaluate(tmp_path, write, use("submit", answer="it was the cart"))
    found = {score.metadata.get("hallucination"): score.value for score in scores.values()}
    assert found == {None: 1.0, 1.0: 0.0}
