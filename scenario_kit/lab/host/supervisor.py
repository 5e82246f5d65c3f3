"""Start, health checks and end of a lab's processes, which outlive the command that started them."""

from __future__ import annotations

import os
import signal
import ssl
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import msgspec

from scenario_kit.errors import LabError
from scenario_kit.lab.host import procfs
from scenario_kit.lab.host.addresses import is_free
from scenario_kit.lab.host.state import LabState, ProcessState, read_log_tail

#: The problem of a component whose process is gone.
DEAD = "dead"
_POLL_SECONDS = 0.05
_ANSWER_SECONDS = 2.0
_KILL_SECONDS = 10.0


@dataclass(frozen=True)
class Spec:
    """The process specification of a component. ``shown_as`` is its program name in process lists."""

    name: str
    program: Path
    arguments: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    shown_as: str = ""


def start(spec: Spec, part: ProcessState, folder: str) -> ProcessState:
    """Start a component, detached, with its output appended to its log; return it with the process ID.

    Raises:
        LabError: the program cannot be executed.
    """
    log = Path(part.log)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        try:
            process = subprocess.Popen(
                [spec.shown_as or str(spec.program), *spec.arguments],
                executable=spec.program,
                cwd=folder,
                env=procfs.build_environment(folder, spec.environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise LabError(f"cannot start {spec.name}: {error}") from error
    return msgspec.structs.replace(part, pid=process.pid)


def kill(folder: str) -> None:
    """Kill every process of the lab: its data is deleted with it, so nothing needs to be saved.

    Raises:
        LabError: a process does not exit.
    """
    deadline = time.monotonic() + _KILL_SECONDS
    ending: set[int] = set()
    while True:
        marked = set(procfs.find(procfs.make_marker(folder)))
        for pid in marked:
            _kill(pid)
        ending = {pid for pid in ending | marked if not _has_ended(pid)}
        if not marked | ending:
            return
        if time.monotonic() > deadline:
            raise LabError(f"processes {sorted(ending)} of {folder} do not exit")
        time.sleep(_POLL_SECONDS)


def end(part: ProcessState) -> None:
    """Kill one running process; its data is stored elsewhere.

    Raises:
        LabError: it does not exit.
    """
    deadline = time.monotonic() + _KILL_SECONDS
    _kill(part.pid)
    while not _has_ended(part.pid):
        if time.monotonic() > deadline:
            raise LabError(f"{part.name} (pid {part.pid}) does not exit")
        time.sleep(_POLL_SECONDS)


def await_free(part: ProcessState) -> None:
    """Wait until the port of a dead component is free: an exiting process closes its sockets last.

    Raises:
        LabError: another process has taken the port.
    """
    deadline = time.monotonic() + _KILL_SECONDS
    while part.port and not is_free(part.port):
        if time.monotonic() > deadline:
            raise LabError(
                f"{part.name} cannot be restarted: another process listens on its port {part.port}",
                fix="stop that process, or run lab down and lab up",
            )
        time.sleep(_POLL_SECONDS)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _has_ended(pid: int) -> bool:
    """Return whether the process has exited; reaps children of this process, others are reaped by init."""
    if not procfs.has_ended(pid):
        return False
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    return True


def _create_client(certificate: str) -> httpx.Client:
    """Create a client that presents its certificate if it has one, and verifies none."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if certificate:
        context.load_cert_chain(f"{certificate}.crt", f"{certificate}.key")
    return httpx.Client(verify=context, timeout=_ANSWER_SECONDS, trust_env=False)


class HealthProbe:
    """Check the health of components. Connections are local, so servers are not authenticated."""

    def __init__(self, state: LabState) -> None:
        headers = {"Authorization": f"Bearer {state.server_token}"} if state.server_token else {}
        self._state = state
        self._headers = headers
        self._clients: dict[str, httpx.Client] = {}

    def find_problem(self, part: ProcessState) -> str:
        """Return the problem of a component; empty if it is healthy."""
        if not self._state.alive(part):
            return DEAD
        if not part.health:
            return ""
        mine = self._state.server_url and part.health.startswith(self._state.server_url)
        if part.client not in self._clients:
            self._clients[part.client] = _create_client(part.client)
        try:
            response = self._clients[part.client].get(part.health, headers=self._headers if mine else {})
        except httpx.HTTPError as error:
            return f"{part.health} does not respond ({type(error).__name__})"
        if response.status_code != part.answer:
            return f"{part.health} returned {response.status_code}: {response.text.strip()[:120]}"
        return ""

    def wait(self, names: Iterable[str], seconds: float) -> None:
        """Wait until the components are healthy.

        Raises:
            LabError: one died, or is not healthy within ``seconds``; the message has the end of its log.
        """
        deadline = time.monotonic() + seconds
        for name in names:
            part = self._state.part(name)
            assert part is not None, name
            while problem := self.find_problem(part):
                if problem == DEAD or time.monotonic() > deadline:
                    what = "exited" if problem == DEAD else f"is not healthy after {seconds:.0f} s: {problem}"
                    raise LabError(f"{name} {what}; the end of {part.log}:\n{read_log_tail(part.log)}")
                time.sleep(_POLL_SECONDS)


def locate_pki(state: LabState) -> Path:
    """Return the directory of the cluster's keys."""
    return locate_control_plane(state) / "pki"


def locate_control_plane(state: LabState) -> Path:
    """Return the directory that kwokctl manages."""
    return Path(state.folder) / "kwok" / "clusters" / state.name
