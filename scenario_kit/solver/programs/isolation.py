"""Sandbox a program: no network, no other processes, no files of labs and truths.

It needs kernel namespaces and mounts, available to root and, where the system allows it, to users (`unshare`). Missing
isolation is always reported.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

IsolationMode = Literal["auto", "full", "network", "none"]
#: Environment variables passed to a program; others may contain credentials or the location of a lab.
KEPT_VARIABLES: Final = ("PATH", "LANG", "LC_ALL", "TERM", "TZ", "TMPDIR")
_PROGRAMS: Final = ("unshare", "setpriv", "mount")


class SolverView(NamedTuple):
    """The file system of an isolated program.

    ``home`` is its working folder, visible even below a hidden one; ``hidden`` folders and files appear empty, and
    ``readable`` ones are read-only.
    """

    home: Path
    hidden: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()


class Isolation(NamedTuple):
    """The isolation of a program, and its description."""

    mode: Literal["full", "open-network", "none"]
    message: str


def choose_isolation(mode: IsolationMode) -> Isolation | None:
    """Choose the isolation; None if this machine does not support the requested ``full`` or ``network`` mode."""
    if mode == "none":
        return Isolation("none", "the solver runs as your own program: it can read what you can")
    able = can_isolate()
    if able and mode == "network":
        return Isolation(
            "open-network", "the solver has the network of this machine, and sees no files of labs or truths"
        )
    if able:
        return Isolation("full", "the solver has no network, and sees no files of labs or truths")
    if mode == "auto":
        return Isolation("none", "this machine does not allow namespaces (unshare): the solver can read what you can")
    return None


@lru_cache(maxsize=1)
def can_isolate() -> bool:
    """Return whether this machine supports the required namespaces."""
    if not all(shutil.which(name) for name in _PROGRAMS):
        return False
    probe = wrap_command(["true"], Isolation("full", ""), SolverView(Path("/"), (Path("/tmp"),)))  # noqa: S108
    return subprocess.run(probe, capture_output=True, check=False, timeout=20).returncode == 0


def wrap_command(command: Sequence[str], isolation: Isolation, view: SolverView) -> list[str]:
    """Return the command line that runs a program in isolation."""
    if isolation.mode == "none":
        return list(command)
    flags = ["--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "--ipc"]
    if isolation.mode == "full":
        flags.append("--net")
    return ["unshare", *flags, "--", "sh", "-ec", _build_script(view), "sh", *command]


def _build_script(view: SolverView) -> str:
    """Build the set-up script: hide folders, mount a private /proc, and drop the privileges to undo that.

    Folders visible below a hidden one are kept open as file descriptors from 3 on.
    """
    kept = dict(enumerate((view.home, *view.readable), start=3))
    lines = ["mount -t proc proc /proc"]
    lines += [f"exec {number}<{shlex.quote(str(path))}" for number, path in kept.items()]
    folders = [path for path in view.hidden if path.is_dir() and not set(path.parents) & set(view.hidden)]
    files = [path for path in view.hidden if path.is_file() and not set(path.parents) & set(folders)]
    lines += [f"mount --bind /dev/null {shlex.quote(str(path))}" for path in files]
    lines += [f"mount -t tmpfs -o size=1m none {shlex.quote(str(path))}" for path in folders]
    for number, path in kept.items():
        place = shlex.quote(str(path))
        if any(path.is_relative_to(folder) for folder in folders):
            lines += [f"mkdir -p {place}", f"mount -c --rbind /proc/self/fd/{number} {place}"]
        elif path in view.readable:
            lines.append(f"mount --rbind {place} {place}")
        if path in view.readable:
            lines.append(f"mount -o remount,bind,ro {place}")
    lines += [f"exec {number}<&-" for number in kept]
    lines.append(f"cd {shlex.quote(str(view.home))}")
    lines.append('exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all -- "$@"')
    return "\n".join(lines)


def choose_environment(environment: Mapping[str, str], passed: Sequence[str], home: Path) -> dict[str, str]:
    """Choose the environment of a program: ``KEPT_VARIABLES`` and the ``passed`` ones."""
    kept = {name: environment[name] for name in (*KEPT_VARIABLES, *passed) if name in environment}
    return kept | {"HOME": str(home)}
