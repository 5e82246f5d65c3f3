"""The interface between the kubelet and the processes in containers, and a trivial implementation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from scenario_kit.model.base import Object
from scenario_kit.model.runtime.process import InitState, Lag, ProcessStart, Stop

#: ``Exit.reason`` of a container whose command could not be executed (exit code 128): the kubelet reports
#: ``RunContainerError`` with ``Exit.text`` as the runtime's message.
START_ERROR = "StartError"


class Processes(Protocol):
    """The processes of one namespace. Times are seconds since the epoch on that namespace's clock.

    ``pod`` is the Pod as last seen, ``container`` a container's name. Results depend on the arguments and on observed
    state, never on the number or order of calls.
    """

    def image_exists(self, image: str) -> bool:
        """Return whether a registry has the image, spelled as in the container's spec."""

    def has_program(self, image: str, program: str) -> bool:
        """Return whether the image is known to contain a program; False if unknown."""

    def start(self, pod: Object, container: str, now: float) -> ProcessStart:
        """Return how a process started at ``now`` comes up. Called once per container instance, and again after a
        restart of the kubelet for running containers, with their start time.

        With ``exit``, the process ends ``listens_after_seconds`` after its start; the reason ``StartError`` (code 128)
        means that the command could not be executed, and ``text`` is the container runtime's message.
        """

    def init(self, pod: Object, container: str, now: float) -> InitState:
        """Return the state of a started init container; polled every two seconds while it is running."""

    def answers(self, pod: Object, container: str, port: int, path: str | None, now: float) -> bool:
        """Return whether a probe of a running container succeeds.

        ``path`` is None for TCP, a URL path for HTTP and ``grpc:<service>`` for gRPC; for an exec probe it is ``exec:``
        and the command joined by spaces, with port 0.
        """


@runtime_checkable
class Stopping(Protocol):
    """Processes with SIGTERM handling; others exit at once with the signal's code."""

    def stop(self, pod: Object, container: str, now: float) -> Stop:
        """Return how a process exits that gets SIGTERM at ``now``. After its grace period it is killed (137)."""


@runtime_checkable
class Lagging(Protocol):
    """Processes with probe latency; others respond at once."""

    def lag(self, pod: Object, container: str, port: int, path: str | None, now: float) -> Lag:
        """Return the latency of a successful probe that starts at ``now``; ``port`` and ``path`` as in ``answers``."""


@runtime_checkable
class Attaching(Protocol):
    """Processes that support Java agents of JVMChaos; others are not JVMs."""

    def explain_attach_failure(self, spec: Object) -> Literal["", "NoJava", "NoShell"]:
        """Return why no agent can be loaded into a container's program: not Java, or no shell; empty if one can."""

    def unknown(self, spec: Object, rules: Sequence[Mapping[str, Any]]) -> str:
        """Return which of these rules are not modelled for a container's program; empty if all are."""


@runtime_checkable
class Mounting(Protocol):
    """Processes whose images declare volumes; others declare none."""

    def volumes(self, spec: Object) -> Sequence[str]:
        """Return the volumes declared by a container's image.

        containerd mounts an anonymous directory at each, unless the pod mounts a volume there.
        """


class PlainProcesses:
    """Processes outside of worlds: every image exists, every process starts at once, succeeds and responds."""

    def image_exists(self, image: str) -> bool:
        """Return True for every image."""
        del image
        return True

    def has_program(self, image: str, program: str) -> bool:
        """Return False: no image's contents are known."""
        del image, program
        return False

    def start(self, pod: Object, container: str, now: float) -> ProcessStart:
        """Start at once, and run forever."""
        del pod, container, now
        return ProcessStart(0.0)

    def init(self, pod: Object, container: str, now: float) -> InitState:
        """Succeed at once."""
        del pod, container, now
        return InitState("Succeeded")

    def answers(self, pod: Object, container: str, port: int, path: str | None, now: float) -> bool:
        """Respond on every port."""
        del pod, container, port, path, now
        return True
