"""Look-up of a component: environment variable, PATH with the pinned version, cache. Changes nothing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from scenario_kit.errors import ToolchainError
from scenario_kit.lab.toolchain import cache
from scenario_kit.lab.toolchain.components import PARTS, ToolchainComponent, get_part

Source = Literal["environment", "PATH", "cache", "missing"]


@dataclass(frozen=True)
class PartStatus:
    """The result for one component. ``problem`` is empty if it is usable."""

    name: str
    version: str
    source: Source
    path: Path | None
    variable: str
    problem: str = ""


def inspect() -> tuple[PartStatus, ...]:
    """Look up every component."""
    return tuple(look_up(p) for p in PARTS)


def resolve(name: str) -> Path:
    """Return the binary of a component.

    Raises:
        ToolchainError: it is missing; the message has the cause and the variable that provides it.
    """
    status = look_up(get_part(name))
    if status.path is None or status.problem:
        raise ToolchainError(
            f"{status.name} {status.version}: {status.problem}",
            fix=f"scenario-kit lab install, or set {status.variable} to the path of the binary",
        )
    return status.path


def look_up(desired: ToolchainComponent) -> PartStatus:
    """Look up one component."""

    def status(source: Source, path: Path | None, problem: str = "") -> PartStatus:
        return PartStatus(desired.name, desired.version, source, path, desired.variable, problem)

    explicit = os.environ.get(desired.variable)
    if explicit:
        path = Path(explicit).expanduser().absolute()
        usable = path.is_file() and os.access(path, os.X_OK)
        return status("environment", path, "" if usable else f"{desired.variable}={explicit} is not an executable file")
    on_path = shutil.which(desired.name)
    if on_path and (desired.any_on_path or reports_version(Path(on_path), desired.version)):
        return status("PATH", Path(on_path))
    cached = cache.locate_binary(desired)
    if cached.is_file():
        return status("cache", cached)
    other = f" ({on_path} is another version)" if on_path else ""
    return status("missing", None, f"it is neither in the cache nor on PATH{other}")


def reports_version(path: Path, version: str) -> bool:
    """Return whether the binary reports exactly that version; no report counts as False."""
    try:
        run = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return False
    return mentions_version(run.stdout + run.stderr, version)


def mentions_version(output: str, version: str) -> bool:
    """Return whether a version report contains exactly ``version``: 1.34.2 is neither 1.34.20 nor 1.34.2-beta.1."""
    return re.search(rf"(?<![\w.-])v?{re.escape(version)}(?![\w.-])", output) is not None
