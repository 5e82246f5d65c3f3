"""An incident on a cluster on which scenario-kit's operator runs, by kubectl alone (scenario-kit, docs/export.md)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

#: Where Scenarios live; no solver may read it.
NAMESPACE = "scenario-kit"
#: Seconds until an incident is there, until one that was repaired counts as resolved, and until all of it is gone.
SECONDS = {"Ready": 3600, "Resolved": 1200, "delete": 900}


class ClusterIncident:
    """One Scenario: applied, it deploys the app and breaks it; deleted, all is undone."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.name = json.loads(file.read_text(encoding="utf-8"))["metadata"]["name"]

    def begin(self) -> str:
        """Apply the Scenario and wait until it can be investigated; returns the namespace of the app.

        Raises:
            RuntimeError: it does not come.
        """
        self._run("apply", "-f", str(self.file))
        self._run("wait", f"scenario/{self.name}", "--for=condition=Ready", f"--timeout={SECONDS['Ready']}s")
        namespace = self.read_status().get("namespace", "")
        if not namespace:
            raise RuntimeError(f"Scenario {self.name} is ready and names no namespace")
        return str(namespace)

    def is_resolved(self) -> bool:
        """Return whether the incident ends within the time that resolving may take, and stays ended."""
        limit = f"--timeout={SECONDS['Resolved']}s"
        command = ["wait", f"scenario/{self.name}", "--for=condition=Resolved", limit]
        return self._call(command).returncode == 0

    def read_status(self) -> dict[str, Any]:
        """Read the status of the Scenario."""
        found = json.loads(self._run("get", f"scenario/{self.name}", "-o", "json"))
        return dict(found.get("status", {}))

    def end(self) -> None:
        """Delete the Scenario, which undoes all that it did; one that is not there is no mistake."""
        self._run("delete", f"scenario/{self.name}", "--ignore-not-found", f"--timeout={SECONDS['delete']}s")

    def _run(self, *arguments: str) -> str:
        done = self._call(list(arguments))
        if done.returncode != 0:
            raise RuntimeError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()[-2000:]}")
        return done.stdout

    def _call(self, arguments: list[str]) -> subprocess.CompletedProcess[str]:
        command = ["kubectl", "--namespace", NAMESPACE, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)


class IncidentApp:
    """What harnesses ask of an app. The Scenario deploys it, with its load, so that most of it has nothing to do."""

    def __init__(self, problem: dict[str, Any], incident: ClusterIncident) -> None:
        self.name = self.app_name = problem["app"]
        self.description = self.descriptions = problem["brief"]
        self.namespace = ""
        self.helm_configs: dict[str, Any] = {}
        self._incident = incident

    def get_app_summary(self) -> str:
        """Return what a solver is told of the app."""
        return f"{self.name}, in the namespace {self.namespace or '(not deployed yet)'}. {self.description}"

    def deploy(self) -> None:
        """Do nothing: the app comes with the incident."""

    def start_workload(self) -> None:
        """Do nothing: the app comes with its load."""

    def stop_workload(self) -> None:
        """Do nothing: the load goes with the app."""

    def delete(self) -> None:
        """Delete what an earlier run left."""
        self._incident.end()

    def cleanup(self) -> None:
        """Delete the incident and the app."""
        self._incident.end()


def read_problems(folder: Path) -> list[dict[str, Any]]:
    """Read the problems that were exported."""
    found: list[dict[str, Any]] = json.loads((folder / "problems.json").read_text(encoding="utf-8"))["problems"]
    return found
