"""Starting, watching and ending the processes of a lab. They outlive the command that started them."""

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

from scenario_kit.errors import LabError
from scenario_kit.lab.host import procfs
from scenario_kit.lab.host.addresses import is_free
from scenario_kit.lab.host.state import LabState, ProcessState, log_tail

#: What ``HealthProbe.problem`` says of a part whose process is gone.
DEAD = "dead"
_POLL_SECONDS = 0.05
_ANSWER_SECONDS = 2.0
_KILL_SECONDS = 10.0


@dataclass(frozen=True)
class Spec:
    """How to start a part. ``shown_as`` is the program name that the process is started under."""

    name: str
    program: Path
    arguments: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    shown_as: str = ""


def start(spec: Spec, part: ProcessState, folder: str) -> ProcessState:
    """Start a part, detached, its output appended to its log; returns it with the process id.

    Raises:
        LabError: the program cannot be executed.
    """
    log = Path(part.log)
    log.parent.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, **spec.environment, **procfs.make_marker(folder)}
    with log.open("ab") as output:
        try:
            process = subprocess.Popen(
                [spec.shown_as or str(spec.program), *spec.arguments],
                executable=spec.program,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise LabError(f"{spec.name} cannot be started: {error}") from error
    return ProcessState(name=part.name, pid=process.pid, log=part.log, port=part.port, health=part.health)


def kill(folder: str) -> None:
    """End every process of the lab at once: what they hold goes with the lab, so there is nothing to save.

    Raises:
        LabError: one of them does not end.
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
            raise LabError(f"processes {sorted(ending)} of {folder} do not end")
        time.sleep(_POLL_SECONDS)


def end(part: ProcessState) -> None:
    """End one process that runs, at once; what it keeps is elsewhere.

    Raises:
        LabError: it does not end.
    """
    deadline = time.monotonic() + _KILL_SECONDS
    _kill(part.pid)
    while not _has_ended(part.pid):
        if time.monotonic() > deadline:
            raise LabError(f"{part.name} (pid {part.pid}) does not end")
        time.sleep(_POLL_SECONDS)


def await_free(part: ProcessState) -> None:
    """Wait until the port of a dead part is free: a process that ends closes its sockets last.

    Raises:
        LabError: another process has it by now.
    """
    deadline = time.monotonic() + _KILL_SECONDS
    while part.port and not is_free(part.port):
        if time.monotonic() > deadline:
            raise LabError(
                f"{part.name} cannot be started again: another process listens on its port {part.port}",
                fix="end that process, or take the lab down and up again",
            )
        time.sleep(_POLL_SECONDS)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _has_ended(pid: int) -> bool:
    """Check whether the process has ended; a child of ours is collected then, those of other commands are
    left to init.
    """
    if not procfs.has_ended(pid):
        return False
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    return True


class HealthProbe:
    """Asks parts whether they work. Connections stay on this machine, so servers are not authenticated."""

    def __init__(self, state: LabState) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        pki = locate_pki(state)
        if (pki / "admin.crt").exists():
            context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
        headers = {"Authorization": f"Bearer {state.server_token}"} if state.server_token else {}
        self._state = state
        self._headers = headers
        self._client = httpx.Client(verify=context, timeout=_ANSWER_SECONDS, trust_env=False)

    def problem(self, part: ProcessState) -> str:
        """Return why the part does not work; empty when it does."""
        if not self._state.alive(part):
            return DEAD
        if not part.health:
            return ""
        mine = self._state.server_url and part.health.startswith(self._state.server_url)
        try:
            response = self._client.get(part.health, headers=self._headers if mine else {})
        except httpx.HTTPError as error:
            return f"{part.health} does not answer ({type(error).__name__})"
        if response.status_code != 200:
            return f"{part.health} answers {response.status_code}: {response.text.strip()[:120]}"
        return ""

    def wait(self, names: Iterable[str], seconds: float) -> None:
        """Wait until the parts work.

        Raises:
            LabError: one died, or does not work within ``seconds``; the message has the end of its log.
        """
        deadline = time.monotonic() + seconds
        for name in names:
            part = self._state.part(name)
            assert part is not None, name
            while problem := self.problem(part):
                if problem == DEAD or time.monotonic() > deadline:
                    what = "ended" if problem == DEAD else f"does not work after {seconds:.0f} s: {problem}"
                    raise LabError(f"{name} {what}; the end of {part.log}:\n{log_tail(part.log)}")
                time.sleep(_POLL_SECONDS)


def locate_pki(state: LabState) -> Path:
    """Locate where the keys of the cluster are."""
    return locate_control_plane(state) / "pki"


def locate_control_plane(state: LabState) -> Path:
    """Locate the folder that kwokctl manages."""
    return Path(state.folder) / "kwok" / "clusters" / state.name
