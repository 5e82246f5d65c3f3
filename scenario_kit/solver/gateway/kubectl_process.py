"""Run kubectl as a process with the solver's credential, an empty home and an empty environment."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Final, Protocol

from scenario_kit.solver.gateway.answers import ToolAnswer, cut_middle
from scenario_kit.solver.gateway.created_objects import add_objects
from scenario_kit.solver.gateway.kubectl_command import KubectlCommand

#: Timeout of a command in wall seconds.
TIMEOUT_SECONDS: Final = 30.0


class Kubectl(Protocol):
    """Runs kubectl commands as the solver."""

    def run(self, command: KubectlCommand) -> ToolAnswer:
        """Run a command and return its output."""


class KubectlProcess:
    """A kubectl binary with a kubeconfig for one run; ``namespace`` is the default namespace."""

    def __init__(self, binary: Path, kubeconfig: Path, namespace: str) -> None:
        self._binary = binary
        self._kubeconfig = kubeconfig
        self._namespace = namespace
        self._created = 0

    def run(self, command: KubectlCommand) -> ToolAnswer:
        """Run a command; kill it after the timeout.

        Raises:
            BadCall: the run has created too many objects.
        """
        self._created = add_objects(self._created, command)
        arguments = [str(self._binary), f"--kubeconfig={self._kubeconfig}", f"--namespace={self._namespace}"]
        with tempfile.TemporaryDirectory(prefix="kubectl-") as home:
            try:
                done = subprocess.run(
                    [*arguments, *command.arguments],
                    input=command.stdin, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_SECONDS,
                    cwd=home, env={"HOME": home, "PATH": "/nonexistent"}, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                text = (
                    f"error: the command did not end within {TIMEOUT_SECONDS:.0f} s; let time pass with the tool wait"
                )
                return ToolAnswer(content=text, ok=False)
        text = "\n".join(part.rstrip("\n") for part in (done.stdout, done.stderr) if part)
        return ToolAnswer(content=cut_middle(text or "(no output)"), ok=done.returncode == 0)
