"""The cache, ``<cache>/toolchain/<part>/<version>/<binary>``: filled by atomic renames, under a lock."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scenario_kit.lab.host.locks import hold_lock
from scenario_kit.lab.toolchain.components import ToolchainComponent


def locate_root() -> Path:
    """Locate where parts are kept: ``SCENARIO_KIT_CACHE``, else the user's cache folder (XDG)."""
    explicit = os.environ.get("SCENARIO_KIT_CACHE")
    if explicit:
        return Path(explicit).expanduser().absolute() / "toolchain"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache").absolute() / "scenario-kit" / "toolchain"


def locate_binary(part: ToolchainComponent) -> Path:
    """Locate where the binary of ``part`` is, or would be."""
    return locate_root() / part.name / part.version / part.name


def locate_scratch() -> Path:
    """Locate where unfinished work lies. On the same file system as the cache, so that a rename publishes it."""
    return locate_root() / ".work"


@contextmanager
def open_workspace(part: str) -> Iterator[Path]:
    """Open an empty scratch folder for one part; removed at the end, whatever that is."""
    folder = locate_scratch() / f"{part}.{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def publish(part: ToolchainComponent, built: Path) -> Path:
    """Move a finished binary to its place in the cache; until then nobody sees it."""
    target = locate_binary(part)
    target.parent.mkdir(parents=True, exist_ok=True)
    built.chmod(0o755)
    built.replace(target)
    return target


@contextmanager
def lock_cache(on_wait: Callable[[str], None]) -> Iterator[None]:
    """Hold the cache's lock. ``on_wait`` is told, once, when another process holds it; then this waits.

    What an interrupted process left in the scratch folder is removed first: its lock died with it.
    """
    locate_root().mkdir(parents=True, exist_ok=True)
    with hold_lock(locate_root() / ".lock", "another process is installing the toolchain", on_wait):
        shutil.rmtree(locate_scratch(), ignore_errors=True)
        yield
