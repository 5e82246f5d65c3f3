"""Keeping a program apart from this machine: no network, no processes of others, no files of labs and truths.

It needs namespaces of the kernel and mounts, which root has, and users where the system lets them (`unshare`). What
cannot be had is said, never passed over in silence.
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
#: Variables that a program gets; others may hold credentials, or say where a lab is.
KEPT_VARIABLES: Final = ("PATH", "LANG", "LC_ALL", "TERM", "TZ", "TMPDIR")
_PROGRAMS: Final = ("unshare", "setpriv", "mount")


class SolverView(NamedTuple):
    """What a program that is kept apart sees of this machine's files.

    ``home`` is its working folder, which stays visible though it may lie below a hidden one; in place of ``hidden``
    folders and files it finds empty ones, and what is in ``readable`` it cannot write.
    """

    home: Path
    hidden: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()


class Isolation(NamedTuple):
    """How a program is kept apart, in one word and in a sentence."""

    mode: Literal["full", "open-network", "none"]
    message: str


def choose_isolation(mode: IsolationMode) -> Isolation | None:
    """Choose how to start programs. None where ``full`` or ``network`` is asked for and this machine cannot do it."""
    if mode == "none":
        return Isolation("none", "the solver runs as a program of yours: it can read what you can")
    able = can_isolate()
    if able and mode == "network":
        return Isolation(
            "open-network", "the solver has the network of this machine, and sees no files of labs or truths"
        )
    if able:
        return Isolation("full", "the solver has no network, and sees no files of labs or truths")
    if mode == "auto":
        return Isolation("none", "this machine gives no namespaces (unshare): the solver can read what you can")
    return None


@lru_cache(maxsize=1)
def can_isolate() -> bool:
    """Check whether this machine lets us make the namespaces that are needed."""
    if not all(shutil.which(name) for name in _PROGRAMS):
        return False
    probe = wrap_command(["true"], Isolation("full", ""), SolverView(Path("/"), (Path("/tmp"),)))  # noqa: S108
    return subprocess.run(probe, capture_output=True, check=False, timeout=20).returncode == 0


def wrap_command(command: Sequence[str], isolation: Isolation, view: SolverView) -> list[str]:
    """Return the command line that starts a program apart."""
    if isolation.mode == "none":
        return list(command)
    flags = ["--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "--ipc"]
    if isolation.mode == "full":
        flags.append("--net")
    return ["unshare", *flags, "--", "sh", "-ec", _build_script(view), "sh", *command]


def _build_script(view: SolverView) -> str:
    """Build what is done inside before the program starts: empty folders, own processes, and no right to undo that.

    Folders that stay visible below a hidden one are held open meanwhile, as file descriptors from 3 on.
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
    """Choose the variables of a program: a few that programs need, and those that were named."""
    kept = {name: environment[name] for name in (*KEPT_VARIABLES, *passed) if name in environment}
    return kept | {"HOME": str(home)}
