"""What is known about a lab, on disk: where it listens, who its processes are, and the credentials to reach them.

One file per lab, ``<home>/labs/<name>/lab.json``, readable by its owner only. The command line, the lab server and the
operator all find each other through it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from scenario_kit.errors import LabError, UsageError
from scenario_kit.lab.host import disk_space, procfs
from scenario_kit.model.base import Value

DEFAULT_NAME = "default"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,28}[a-z0-9])?")
_TAIL_LINES = 8
_TAIL_COLUMNS = 240


class ProcessState(Value, frozen=True, kw_only=True):
    """One process of a lab. ``health`` is a URL that answers 200 while the part works; empty: being alive is all."""

    name: str
    pid: int
    log: str
    port: int | None = None
    health: str = ""


class DeadPart(Value, frozen=True, kw_only=True):
    """A part whose process is gone, with the last lines that it wrote."""

    name: str
    pid: int
    log: str
    tail: str

    def __str__(self) -> str:
        return f"{self.name} (pid {self.pid}) is gone; the end of {self.log}:\n{self.tail or '(empty)'}"


class ChaosDaemonState(Value, frozen=True, kw_only=True):
    """Where the simulated chaos daemon listens, and the certificates of its mutual TLS. Paths are absolute.

    The server certificate is for ``chaos-daemon.chaos-mesh.org``; only holders of the client certificate may call.
    """

    address: str
    port: int
    ca: str
    server_certificate: str
    server_key: str
    client_certificate: str
    client_key: str
    proto: str


class LabState(Value, frozen=True, kw_only=True):
    """A lab. ``epoch`` is where virtual clocks start: seconds since 1970, a multiple of 15, some days in the past.

    ``complete`` turns true once everything has been up; a lab without it was interrupted while starting. ``resetting``
    is true while it is being emptied. ``ports`` are all that were chosen for it, by purpose. ``version`` is that of the
    scenario-kit whose programs run in it.
    """

    name: str
    folder: str
    version: str = ""
    epoch: int
    created: float = 0.0
    complete: bool = False
    resetting: bool = False
    kubeconfig: str = ""
    operator_kubeconfig: str = ""
    solver_kubeconfig: str = ""
    prometheus_url: str = ""
    server_url: str = ""
    server_token: str = ""
    nodes: tuple[str, ...] = ()
    alert_packs: tuple[str, ...] = ()
    chaos_daemon: ChaosDaemonState | None = None
    parts: tuple[ProcessState, ...] = ()
    ports: dict[str, int] = {}

    @classmethod
    def load(cls, name: str = DEFAULT_NAME) -> LabState:
        """Load the lab of that name.

        Raises:
            LabError: there is none, or its file is from another version.
        """
        state = cls.find(name)
        if state is None:
            raise LabError(f"there is no lab named {name!r}", fix=f"scenario-kit lab up{_read_option(name)}")
        return state

    @classmethod
    def find(cls, name: str = DEFAULT_NAME) -> LabState | None:
        """Find the lab of that name, or None; raises ``LabError`` for a file that cannot be read."""
        path = find_lab_folder(name) / "lab.json"
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except FileNotFoundError:
            return None
        except msgspec.MsgspecError as error:
            fix = f"scenario-kit lab down{_read_option(name)}, then scenario-kit lab up{_read_option(name)}"
            raise LabError(f"{path} was written by another version: {error}", fix=fix) from error

    def require_version(self, version: str) -> None:
        """Require the version of the lab: kinds, apps and fault types change from version to version.

        Raises:
            LabError: the programs in it are of another version.
        """
        if self.version != version:
            raise LabError(
                f"lab {self.name!r} runs scenario-kit {self.version or 'of an earlier version'}, and this is {version}",
                fix=f"scenario-kit lab down{_read_option(self.name)}, then scenario-kit lab "
                f"up{_read_option(self.name)}",
            )

    def save(self) -> None:
        """Write the file, atomically and for its owner's eyes only."""
        path = Path(self.folder) / "lab.json"
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = path.with_name(f".lab.json.{os.getpid()}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(self), indent=2))
        temporary.replace(path)

    def part(self, name: str) -> ProcessState | None:
        """Return the part of that name, or None."""
        return next((p for p in self.parts if p.name == name), None)

    def with_part(self, part: ProcessState) -> LabState:
        """Return this state with ``part`` in place of the one of the same name, or at the end."""
        if self.part(part.name) is None:
            return msgspec.structs.replace(self, parts=(*self.parts, part))
        return msgspec.structs.replace(self, parts=tuple(part if p.name == part.name else p for p in self.parts))

    def alive(self, part: ProcessState) -> bool:
        """Check whether the process of ``part`` still runs (a reused process id does not count)."""
        return procfs.has_marker(part.pid, procfs.make_marker(self.folder))

    def dead_parts(self) -> tuple[DeadPart, ...]:
        """Return the parts whose process is gone; those that a lab has yet to start do not count."""
        return tuple(
            DeadPart(name=part.name, pid=part.pid, log=part.log, tail=log_tail(part.log))
            for part in self.parts
            if part.pid and not self.alive(part)
        )

    def require_alive(self, doing: str = "") -> None:
        """Raise when the lab has died under a command that waits on it.

        Raises:
            LabError: a part died; the message has the end of its log.
        """
        dead = self.dead_parts()
        if dead and (full := disk_space.find_problem(Path(self.folder))):
            names = ", ".join(part.name for part in dead)
            raise LabError(
                f"lab {self.name!r}: {full}, so {names} ended", fix=f"{disk_space.FIX}; then scenario-kit lab up"
            )
        if dead:
            message = "; ".join(str(part) for part in dead)
            prefix = f"while {doing}: " if doing else ""
            raise LabError(f"{prefix}lab {self.name!r}: {message}", fix=f"scenario-kit lab up{_read_option(self.name)}")


def find_home() -> Path:
    """Find where labs are kept: ``SCENARIO_KIT_HOME``, else the user's state folder (XDG)."""
    explicit = os.environ.get("SCENARIO_KIT_HOME")
    if explicit:
        return Path(explicit).expanduser().absolute()
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state").absolute() / "scenario-kit"


def find_lab_folder(name: str) -> Path:
    """Find the folder of a lab; raises ``UsageError`` for a name that is no DNS label of at most 30 characters."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot name a lab: lower-case letters, digits and dashes, at most 30 characters, are possible"
        )
    return find_home() / "labs" / name


def list_lab_names() -> Sequence[str]:
    """List the labs that exist on this machine, running or not."""
    folder = find_home() / "labs"
    return sorted(path.parent.name for path in folder.glob("*/lab.json"))


def log_tail(path: str, lines: int = _TAIL_LINES) -> str:
    """Return the last lines of a log; empty when there is none."""
    try:
        with Path(path).open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 16384))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(line[:_TAIL_COLUMNS] for line in text.splitlines()[-lines:])


def _read_option(name: str) -> str:
    return "" if name == DEFAULT_NAME else f" --name {name}"
