"""The state of a lab on disk: addresses, processes and credentials.

One file per lab, ``<home>/labs/<name>/lab.json``, readable by its owner only. The command line, the lab server and the
operator find each other through it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from scenario_kit.errors import LabError, UsageError
from scenario_kit.lab.host import disk_space, procfs
from scenario_kit.load.atomic_file import write_private
from scenario_kit.load.folders import find_user_folder
from scenario_kit.model.base import Value

DEFAULT_NAME = "default"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,28}[a-z0-9])?")
_TAIL_LINES = 8
_TAIL_COLUMNS = 240


class ProcessState(Value, frozen=True, kw_only=True):
    """One process of a lab. ``health`` is a URL that returns ``answer`` while it works; empty: it only has to be alive.

    ``client`` is the path of the certificate that its health check shows, without ``.crt``; its key is beside it.
    """

    name: str
    pid: int
    log: str
    port: int | None = None
    health: str = ""
    answer: int = 200
    client: str = ""


class DeadPart(Value, frozen=True, kw_only=True):
    """A component whose process is gone, with the last lines of its log."""

    name: str
    pid: int
    log: str
    tail: str

    def __str__(self) -> str:
        return f"{self.name} (pid {self.pid}) is gone; the end of {self.log}:\n{self.tail or '(empty)'}"


class ChaosDaemonState(Value, frozen=True, kw_only=True):
    """The address of the simulated chaos daemon, and the certificates of its mutual TLS. Paths are absolute.

    The server certificate is for ``chaos-daemon.chaos-mesh.org``; calls require the client certificate.
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
    """A lab. ``epoch`` is the start of virtual clocks: seconds since 1970, a multiple of 15, some days ago.

    ``complete`` is set once all components have been up; without it, the start was interrupted. ``resetting`` is set
    during a reset. ``ports`` are all ports of the lab, by purpose. ``version`` is that of the scenario-kit whose
    programs run in it.
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
        """Load a lab.

        Raises:
            LabError: there is none, or its file is from another version.
        """
        state = cls.find(name)
        if state is None:
            raise LabError(f"there is no lab named {name!r}", fix=f"scenario-kit lab up{_read_option(name)}")
        return state

    @classmethod
    def find(cls, name: str = DEFAULT_NAME) -> LabState | None:
        """Find a lab, or None; raises ``LabError`` for an invalid file."""
        path = find_lab_folder(name) / "lab.json"
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except FileNotFoundError:
            return None
        except msgspec.MsgspecError as error:
            fix = f"scenario-kit lab down{_read_option(name)}, then scenario-kit lab up{_read_option(name)}"
            raise LabError(f"{path} was written by another version: {error}", fix=fix) from error

    def require_version(self, version: str) -> None:
        """Require the lab's version: kinds, apps and fault types change between versions.

        Raises:
            LabError: its programs are of another version.
        """
        if self.version != version:
            raise LabError(
                f"lab {self.name!r} runs scenario-kit {self.version or 'of an earlier version'}, but this is {version}",
                fix=f"scenario-kit lab down{_read_option(self.name)}, then scenario-kit lab "
                f"up{_read_option(self.name)}",
            )

    def save(self) -> None:
        """Write the file atomically, readable by its owner only."""
        path = Path(self.folder) / "lab.json"
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = path.with_name(f".lab.json.{os.getpid()}")
        write_private(temporary, msgspec.json.format(msgspec.json.encode(self), indent=2))
        temporary.replace(path)

    def part(self, name: str) -> ProcessState | None:
        """Return the component of that name, or None."""
        return next((p for p in self.parts if p.name == name), None)

    def with_part(self, part: ProcessState) -> LabState:
        """Return a copy with ``part`` in place of the one of the same name, or appended."""
        if self.part(part.name) is None:
            return msgspec.structs.replace(self, parts=(*self.parts, part))
        return msgspec.structs.replace(self, parts=tuple(part if p.name == part.name else p for p in self.parts))

    def alive(self, part: ProcessState) -> bool:
        """Return whether the process of ``part`` is running (a reused process ID does not count)."""
        return procfs.has_marker(part.pid, procfs.make_marker(self.folder))

    def list_started(self) -> list[str]:
        """List the components that have been started, running or not."""
        return [part.name for part in self.parts if part.pid]

    def dead_parts(self) -> tuple[DeadPart, ...]:
        """Return the components whose process is gone, except those not started yet."""
        return tuple(
            DeadPart(name=part.name, pid=part.pid, log=part.log, tail=read_log_tail(part.log))
            for part in self.parts
            if part.pid and not self.alive(part)
        )

    def require_alive(self, doing: str = "") -> None:
        """Require that no component has died, for a command that waits for the lab.

        Raises:
            LabError: a component died; the message has the end of its log.
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
    """Return the directory of all labs: ``SCENARIO_KIT_HOME``, or the user's state directory (XDG)."""
    return find_user_folder("XDG_STATE_HOME", ".local/state", "SCENARIO_KIT_HOME")


def find_lab_folder(name: str) -> Path:
    """Return the directory of a lab; raises ``UsageError`` unless the name is a DNS label of up to 30 characters."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not a valid lab name, expected up to 30 lower-case letters, digits and dashes")
    return find_home() / "labs" / name


def list_lab_names() -> Sequence[str]:
    """List the labs on this machine, running or not."""
    folder = find_home() / "labs"
    return sorted(path.parent.name for path in folder.glob("*/lab.json"))


def read_log_tail(path: str, lines: int = _TAIL_LINES) -> str:
    """Return the last lines of a log; empty if there is none."""
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
