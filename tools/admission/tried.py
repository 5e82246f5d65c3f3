"""Runs the attempts against lint, the operator and the API server."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from operators.scenario.resolution import resolve_scenario
from scenario_kit.catalog import Catalog
from scenario_kit.lab import toolchain
from scenario_kit.lab.host.state import LabState
from scenario_kit.lint import lint_text
from scenario_kit.model import Finding, Object
from tools.admission.attempts import Attempt, build_scenario, load_attempts

#: The codes of admission findings.
ADMISSION: Final = ("SK202", "SK203", "SK213", "SK220", "SK226", "SK235", "SK236", "SK237", "SK238")
_SECONDS: Final = 300.0


class Tried(NamedTuple):
    """An attempt and the message of each layer that judge_attempts it, by layer."""

    attempt: Attempt
    said: Mapping[str, str]

    @property
    def refused(self) -> bool:
        """Whether every layer refused it with the expected code."""
        # the API server's policies see one change at a time, so another of their codes may apply
        codes = {who: ADMISSION if who == "API server" else (self.attempt.code,) for who in self.said}
        return all(any(code in reason for code in codes[who]) for who, reason in self.said.items())


def judge_attempts() -> Iterator[Tried]:
    """Judge each attempt with lint and the operator's admission."""
    known = Catalog()
    for attempt in load_attempts():
        document = build_scenario(attempt.changes)
        yield Tried(attempt, {"lint": judge_by_lint(document, known), "operator": judge_by_operator(document, known)})


def judge_by_lint(document: Object, catalog: Catalog) -> str:
    """Return lint's admission findings."""
    mistakes = lint_text(yaml.safe_dump(document), Path("/nowhere/attempt/scenario.yaml"), catalog)
    return _format_findings(mistake.finding for mistake in mistakes)


def judge_by_operator(document: Object, catalog: Catalog) -> str:
    """Return the operator's admission findings."""
    return _format_findings(resolve_scenario(catalog, document).errors)


def _format_findings(findings: Iterable[Finding]) -> str:
    return "; ".join(sorted(f"{f.code}: {f.message}" for f in findings if f.code in ADMISSION))


def try_in_lab(name: str) -> Iterator[Tried]:
    """Apply each attempt with kubectl to a running lab: the API server or the operator must refuse it."""
    lab = LabState.load(name)
    every = {f"attempt-{i}": attempt for i, attempt in enumerate(load_attempts())}
    documents = {n: build_scenario(a.changes) | {"metadata": {"name": n}} for n, a in every.items()}
    refused: dict[str, str] = {}
    for each, document in documents.items():
        document["apiVersion"], document["kind"] = "scenariokit.io/v1alpha1", "Scenario"
        applied = _run_kubectl(lab, "apply", "-f", "-", text=yaml.safe_dump(document))
        if applied.returncode != 0:
            refused[each] = " ".join(applied.stderr.split())[:4000]
    said = _read_conditions(lab, set(documents) - set(refused))
    _run_kubectl(lab, "delete", "scenario", "--wait=false", *documents)
    for each, attempt in every.items():
        yield Tried(attempt, {"API server": refused[each]} if each in refused else {"operator": said.get(each, "")})


def _read_conditions(lab: LabState, names: set[str]) -> dict[str, str]:
    """Return the message of each `Accepted` condition once it is known; empty if it is True."""
    deadline = time.monotonic() + _SECONDS
    said: dict[str, str] = {}
    while set(said) != names and time.monotonic() < deadline:
        time.sleep(1.0)
        items: list[Any] = json.loads(_run_kubectl(lab, "get", "scenarios", "-o", "json").stdout)["items"]
        for item in items:
            for each in (item.get("status") or {}).get("conditions") or ():
                if each["type"] == "Accepted" and each["status"] != "Unknown":
                    said[item["metadata"]["name"]] = each["message"] if each["status"] == "False" else ""
    return said


def _run_kubectl(lab: LabState, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [str(toolchain.resolve("kubectl")), "--kubeconfig", lab.kubeconfig, "-n", "scenario-kit", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)
