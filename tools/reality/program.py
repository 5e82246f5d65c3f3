"""Behavior of a container's program: the shell script of the real node and the responses of the simulated node are
derived from one description.
"""

from __future__ import annotations

from typing import Literal

from scenario_kit.model.base import Object, Value
from scenario_kit.model.runtime.process import Exit, InitState, ProcessStart, Stop

PORT = 8080
PATH = "/healthz"
FILE = "/tmp/ready"
#: The exit code of a program killed by SIGKILL.
KILLED = 137


class Program(Value, frozen=True, kw_only=True):
    """A program. Times are seconds since its start.

    Attributes:
        ends_after: when it exits; None if never.
        fills_memory: allocates memory until the kernel kills it, at ``ends_after`` (measured).
        serves_after: when it starts to serve ``PATH`` on ``PORT``.
        file_after: when it creates ``FILE``.
        on_term: the exit code after SIGTERM, ``lingers`` seconds later; "ignored": PID 1 without a handler, which
            the kernel protects from the signal.
    """

    ends_after: float | None = None
    code: int = 0
    fills_memory: bool = False
    serves_after: float | None = None
    file_after: float | None = None
    on_term: int | Literal["ignored"] = 143
    lingers: float = 0.0

    def command(self) -> list[str]:
        """Return the command with this behavior, for an image with busybox."""
        if self.fills_memory:
            return ["tail", "/dev/zero"]
        lines = [self._build_trap()]
        if self.serves_after is not None:
            serve = f"mkdir -p /www; echo ok > /www{PATH}; exec httpd -f -p {PORT} -h /www"
            lines.append(f"( sleep {self.serves_after:g}; {serve} ) &")
        if self.file_after is not None:
            lines.append(f"( sleep {self.file_after:g}; touch {FILE} ) &")
        last = "while :; do sleep 3600 & wait $!; done"
        if self.ends_after is not None:
            last = f"sleep {self.ends_after:g} & wait $!; exit {self.code}"
        return ["sh", "-c", "\n".join([*lines, last])]

    def _build_trap(self) -> str:
        if self.on_term == "ignored":
            return "trap '' TERM"
        wait = f"sleep {self.lingers:g}; " if self.lingers else ""
        return f"trap '{wait}exit {self.on_term}' TERM"


class Programs:
    """The processes of the simulated node, as the kubelet's ``Processes``: programs by pod and container.

    ``absent`` are images that no registry has; ``has`` are the commands that the image contains.
    """

    def __init__(self, programs: dict[str, dict[str, Program]], absent: frozenset[str], has: frozenset[str]) -> None:
        self._programs = programs
        self._absent = absent
        self._has = has
        self._begun: dict[tuple[str, str], float] = {}

    def image_exists(self, image: str) -> bool:
        """See ``Processes``."""
        return image not in self._absent

    def has_program(self, image: str, program: str) -> bool:
        """See ``Processes``."""
        del image
        return program in self._has

    def start(self, pod: Object, container: str, now: float) -> ProcessStart:
        """See ``Processes``."""
        program = self._get_program(pod, container)
        uid = pod["metadata"]["uid"]
        self._begun[uid, container] = now
        command = self._read_command(pod, container)
        if command and command[0] not in self._has:
            return ProcessStart(0.0, Exit(uid, container, 128, "StartError"))
        if program.fills_memory:
            return ProcessStart(program.ends_after or 0.0, Exit(uid, container, KILLED, "OOMKilled"))
        if program.ends_after is None:
            return ProcessStart(program.serves_after or 0.0)
        return ProcessStart(
            program.ends_after, Exit(uid, container, program.code, "Error" if program.code else "Completed")
        )

    def init(self, pod: Object, container: str, now: float) -> InitState:
        """See ``Processes``."""
        program = self._get_program(pod, container)
        command = self._read_command(pod, container)
        if command and command[0] not in self._has:
            return InitState("Failed", 128)
        entry = next(s for s in pod["status"]["initContainerStatuses"] if s["name"] == container)
        key = (pod["metadata"]["uid"], entry["containerID"])
        begun = self._begun.setdefault(key, now)
        if program.ends_after is None or now < begun + program.ends_after:
            return InitState("Running")
        return InitState("Failed", program.code) if program.code else InitState("Succeeded")

    def answers(self, pod: Object, container: str, port: int, path: str | None, now: float) -> bool:
        """See ``Processes``."""
        program = self._get_program(pod, container)
        since = now - self._begun.get((pod["metadata"]["uid"], container), now)
        if path is not None and path.startswith("exec:"):
            made = program.file_after is not None and since >= program.file_after
            return path == f"exec:test -e {FILE}" and made
        serves = program.serves_after is not None and since >= program.serves_after
        return serves and port == PORT and path in (None, PATH)

    def stop(self, pod: Object, container: str, now: float) -> Stop:
        """See ``Stopping``."""
        del now
        program = self._get_program(pod, container)
        if program.on_term == "ignored":
            return Stop(float("inf"))
        return Stop(program.lingers, program.on_term)

    def _get_program(self, pod: Object, container: str) -> Program:
        return self._programs.get(pod["metadata"]["name"], {}).get(container, Program())

    @staticmethod
    def _read_command(pod: Object, name: str) -> list[str]:
        spec = pod["spec"]
        containers = [*spec["containers"], *(spec.get("initContainers") or ())]
        return list(next(c for c in containers if c["name"] == name).get("command") or ())
