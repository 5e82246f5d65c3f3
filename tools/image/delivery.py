"""Delivers an archive with an installed program to an engine, a cluster or a registry."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scenario_kit.errors import ToolchainError, UsageError
from scenario_kit.model.kubernetes.image import normalize_image


@dataclass(frozen=True)
class DeliveryTool:
    """A program and its commands, with placeholders ``{archive}``, ``{name}`` and ``{to}``."""

    program: str
    commands: Sequence[Sequence[str]]
    home: str

    def build(self, archive: Path, name: str, to: str) -> list[list[str]]:
        """Fill in the placeholders."""
        values = {"archive": str(archive), "name": name, "to": to}
        return [[self.program, *(part.format(**values) for part in command)] for command in self.commands]


#: Programs that load an image, by target; the first installed one is used.
LOADERS: Final[Mapping[str, Sequence[DeliveryTool]]] = {
    "kind": (
        DeliveryTool("kind", [["load", "image-archive", "{archive}", "--name", "{to}"]], "https://kind.sigs.k8s.io"),
    ),
    "containerd": (
        DeliveryTool("ctr", [["--namespace", "k8s.io", "images", "import", "{archive}"]], "https://containerd.io"),
        DeliveryTool("nerdctl", [["--namespace", "k8s.io", "load", "--input", "{archive}"]], "https://containerd.io"),
    ),
    "docker": (DeliveryTool("docker", [["load", "--input", "{archive}"]], "https://docs.docker.com/engine"),),
    "podman": (DeliveryTool("podman", [["load", "--input", "{archive}"]], "https://podman.io"),),
}
#: Programs that push an image. The first two copy the archive unchanged and so keep the digest.
PUSHERS: Final[Sequence[DeliveryTool]] = (
    DeliveryTool("skopeo", [["copy", "oci-archive:{archive}", "docker://{to}"]], "https://github.com/containers/skopeo"),
    DeliveryTool(
        "oras", [["copy", "--from-oci-layout", "{archive}@{name}", "{to}"]], "https://oras.land"
    ),
    DeliveryTool(
        "podman", [["load", "--input", "{archive}"], ["push", "{name}", "docker://{to}"]], "https://podman.io"
    ),
    DeliveryTool(
        "docker", [["load", "--input", "{archive}"], ["tag", "{name}", "{to}"], ["push", "{to}"]],
        "https://docs.docker.com/engine",
    ),
)  # fmt: skip


def choose_tool(
    tools: Sequence[DeliveryTool], purpose: str, finds: Callable[[str], object] = shutil.which
) -> DeliveryTool:
    """Return the first installed program.

    Raises:
        ToolchainError: none is installed; the message lists the alternatives.
    """
    for tool in tools:
        if finds(tool.program):
            return tool
    names = " or ".join(tool.program for tool in tools)
    homes = ", ".join(dict.fromkeys(tool.home for tool in tools))
    raise ToolchainError(f"{purpose} needs {names}, which is not on PATH", fix=f"install it: {homes}")


def check_reference(reference: str) -> str:
    """Check the reference for a push: registry, repository and tag.

    Raises:
        UsageError: a part is missing.
    """
    registry, slash, rest = reference.partition("/")
    named = slash and ("." in registry or ":" in registry or registry == "localhost")
    if not named or not rest or "@" in rest or ":" not in rest or normalize_image(reference) != reference:
        raise UsageError(
            f"--push: expected REGISTRY/REPOSITORY:TAG, observed '{reference}'",
            fix="pass all three, such as registry.example.org/team/scenario-kit:0.1.0",
        )
    return reference


def run_commands(commands: Sequence[Sequence[str]], say: Callable[[str], None]) -> None:
    """Run commands one after the other, passing on their output.

    Raises:
        ToolchainError: one fails.
    """
    for command in commands:
        say(f"$ {' '.join(command)}")
        code = subprocess.run(command, check=False).returncode
        if code:
            raise ToolchainError(f"{command[0]} exited with code {code}", fix="see its output above")
