"""The cache ``<cache>/toolchain/<part>/<version>/<binary>``, filled by atomic renames under a lock."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scenario_kit.lab.host.locks import hold_lock
from scenario_kit.lab.toolchain.components import ToolchainComponent
from scenario_kit.load.folders import find_cache_folder


def locate_root() -> Path:
    """Return the folder of the cache."""
    return find_cache_folder() / "toolchain"


def locate_binary(part: ToolchainComponent) -> Path:
    """Return the path of a component's binary, existing or not."""
    return locate_root() / part.name / part.version / part.name


def locate_scratch() -> Path:
    """Return the scratch directory, on the file system of the cache, so that a rename can publish."""
    return locate_root() / ".work"


@contextmanager
def open_workspace(part: str) -> Iterator[Path]:
    """Create an empty scratch directory for one component; always removed on exit."""
    locate_scratch().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{part}.", dir=locate_scratch(), ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def publish(part: ToolchainComponent, built: Path) -> Path:
    """Move a finished binary to its place in the cache; publishes it atomically."""
    target = locate_binary(part)
    target.parent.mkdir(parents=True, exist_ok=True)
    built.chmod(0o755)
    built.replace(target)
    return target


@contextmanager
def lock_cache(on_wait: Callable[[str], None]) -> Iterator[None]:
    """Hold the cache's lock. ``on_wait`` is called once if another process holds it; then this waits.

    Scratch files of an interrupted process are removed first: its lock ended with it.
    """
    locate_root().mkdir(parents=True, exist_ok=True)
    with hold_lock(locate_root() / ".lock", "another process is installing the toolchain", on_wait):
        shutil.rmtree(locate_scratch(), ignore_errors=True)
        yield
