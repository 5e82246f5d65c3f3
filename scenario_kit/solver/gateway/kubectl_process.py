"""kubectl as a process: the solver's credential, an empty home, no variables of ours."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Final, Protocol

from scenario_kit.solver.gateway.answers import ToolAnswer, cut_middle
from scenario_kit.solver.gateway.kubectl_command import KubectlCommand

#: Wall seconds that one command may take.
PATIENCE: Final = 30.0


class Kubectl(Protocol):
    """Runs commands of kubectl as the solver."""

    def run(self, command: KubectlCommand) -> ToolAnswer:
        """Run one command to its end."""


class KubectlProcess:
    """A kubectl binary with one kubeconfig; commands without a namespace are about ``namespace``."""

    def __init__(self, binary: Path, kubeconfig: Path, namespace: str) -> None:
        self._binary = binary
        self._kubeconfig = kubeconfig
        self._namespace = namespace

    def run(self, command: KubectlCommand) -> ToolAnswer:
        """Run one command; one that does not end by itself is ended."""
        arguments = [str(self._binary), f"--kubeconfig={self._kubeconfig}", f"--namespace={self._namespace}"]
        with tempfile.TemporaryDirectory(prefix="kubectl-") as home:
            try:
                done = subprocess.run(
                    [*arguments, *command.arguments],
                    input=command.stdin, capture_output=True, text=True, errors="replace", timeout=PATIENCE,
                    cwd=home, env={"HOME": home, "PATH": "/nonexistent"}, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                text = f"error: the command did not end within {PATIENCE:.0f} s; time passes by the tool wait"
                return ToolAnswer(content=text, ok=False)
        text = "\n".join(part.rstrip("\n") for part in (done.stdout, done.stderr) if part)
        return ToolAnswer(content=cut_middle(text or "(no output)"), ok=done.returncode == 0)
