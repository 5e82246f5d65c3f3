"""An incident on a cluster that runs scenario-kit's operator, driven by kubectl (scenario-kit, docs/export.md)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

#: Namespace of Scenario objects; solvers must not have access to it.
NAMESPACE = "scenario-kit"
#: Timeouts in seconds: incident ready, repaired incident resolved, Scenario deleted.
SECONDS = {"Ready": 3600, "Resolved": 1200, "delete": 900}


class ClusterIncident:
    """One Scenario: applying it deploys and breaks the app, deleting it undoes everything."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.name = json.loads(file.read_text(encoding="utf-8"))["metadata"]["name"]

    def begin(self) -> str:
        """Apply the Scenario and wait until it is ready; returns the namespace of the app.

        Raises:
            RuntimeError: it does not become ready in time.
        """
        # Client-side apply does not send nulls, by which patches remove fields.
        self._run("apply", "--server-side", "--force-conflicts", "-f", str(self.file))
        self._run("wait", f"scenario/{self.name}", "--for=condition=Ready", f"--timeout={SECONDS['Ready']}s")
        namespace = self.read_status().get("namespace", "")
        if not namespace:
            raise RuntimeError(f"Scenario {self.name} is ready, but its status has no namespace")
        return str(namespace)

    def is_resolved(self) -> bool:
        """Return whether the incident is resolved within the timeout."""
        limit = f"--timeout={SECONDS['Resolved']}s"
        command = ["wait", f"scenario/{self.name}", "--for=condition=Resolved", limit]
        return self._call(command).returncode == 0

    def read_status(self) -> dict[str, Any]:
        """Read the Scenario's status."""
        found = json.loads(self._run("get", f"scenario/{self.name}", "-o", "json"))
        return dict(found.get("status", {}))

    def end(self) -> None:
        """Delete the Scenario, which undoes everything; does nothing if there is none."""
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
    """The app interface of harnesses. The Scenario deploys the app and its load, so most methods do nothing."""

    def __init__(self, problem: dict[str, Any], incident: ClusterIncident) -> None:
        self.name = self.app_name = problem["app"]
        self.description = self.descriptions = problem["brief"]
        self.namespace = ""
        self.helm_configs: dict[str, Any] = {}
        self._incident = incident

    def get_app_summary(self) -> str:
        """Return the app's description for the solver."""
        return f"{self.name}, in the namespace {self.namespace or '(not deployed yet)'}. {self.description}"

    def deploy(self) -> None:
        """Do nothing: the Scenario deploys the app."""

    def start_workload(self) -> None:
        """Do nothing: the Scenario deploys the app with its load."""

    def stop_workload(self) -> None:
        """Do nothing: the load stops when the app is deleted."""

    def delete(self) -> None:
        """Delete what an earlier run left behind."""
        self._incident.end()

    def cleanup(self) -> None:
        """Delete the incident and the app."""
        self._incident.end()


def read_problems(folder: Path) -> list[dict[str, Any]]:
    """Read the exported problems."""
    found: list[dict[str, Any]] = json.loads((folder / "problems.json").read_text(encoding="utf-8"))["problems"]
    return found
