"""What the kubelet asks about the process in a container, and the plain answer where nothing simulates one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from scenario_kit.model.base import Object
from scenario_kit.model.runtime.process import InitState, Lag, ProcessStart, Stop

#: ``Exit.reason`` of a container whose command could not be executed at all (exit code 128): the kubelet then reports
#: ``RunContainerError`` with ``Exit.text`` as the runtime's message.
START_ERROR = "StartError"


class Processes(Protocol):
    """The processes of one namespace. Times are seconds since the epoch on that namespace's clock.

    ``pod`` is the Pod as last seen, ``container`` a container's name. Answers depend on the arguments and on what the
    implementation has observed so far, never on how often or in which order it was asked.
    """

    def image_exists(self, image: str) -> bool:
        """Check whether some registry serves this image, as it is spelled in the container's spec."""

    def has_program(self, image: str, program: str) -> bool:
        """Check whether the image is known to hold this program; False where nobody knows."""

    def start(self, pod: Object, container: str, now: float) -> ProcessStart:
        """Start how the process comes up that is started at ``now``; asked once for each container instance, except
        that a restarted kubelet asks again, with the time of the start, about containers that are running.

        With ``exit`` the process ends ``listens_after_seconds`` after its start; an exit whose reason is ``StartError``
        (code 128) means that the command could not be executed, ``text`` is then the container runtime's message.
        """

    def init(self, pod: Object, container: str, now: float) -> InitState:
        """Return the state of a started init container; asked again, every two seconds, while it is running."""

    def answers(self, pod: Object, container: str, port: int, path: str | None, now: float) -> bool:
        """Check whether a probe of a running container succeeds.

        ``path`` is None for a TCP probe and a URL path for HTTP; a gRPC probe asks with ``grpc:<service>``. An exec
        probe asks with port 0 and the command joined by spaces after ``exec:``.
        """


@runtime_checkable
class Stopping(Protocol):
    """Processes that also say what they make of SIGTERM; those of others end at once, as by the signal."""

    def stop(self, pod: Object, container: str, now: float) -> Stop:
        """Return how the process ends that is asked to at ``now``. What outlives its grace period is killed (137)."""


@runtime_checkable
class Lagging(Protocol):
    """Processes that also say how long a probe waits for them; those of others answer at once."""

    def lag(self, pod: Object, container: str, path: str | None, now: float) -> Lag:
        """Return how long a probe waits that begins at ``now`` and that ``answers`` lets succeed; ``path`` is that of
        it.
        """


@runtime_checkable
class Attaching(Protocol):
    """Processes that agents of chaos can be loaded into; among those of others none runs in a JVM."""

    def barred(self, spec: Object) -> Literal["", "NoJava", "NoShell"]:
        """Return why no agent can be loaded into the program that this container, of a pod's spec, runs; empty where
        one can: it is no Java program, or its image has no shell.
        """

    def unknown(self, spec: Object, rules: Sequence[Mapping[str, Any]]) -> str:
        """Return what of these rules nobody knows the consequences of in that program; empty where there is nothing."""


@runtime_checkable
class Mounting(Protocol):
    """Processes whose images are known to declare volumes; those of others declare none."""

    def volumes(self, spec: Object) -> Sequence[str]:
        """Return the volumes that the image of this container, of a pod's spec, declares.

        containerd mounts a directory of the container's own at each of them, unless the pod mounts something there.
        """


class PlainProcesses:
    """Pods of no world: every image exists, everything starts at once, succeeds and answers."""

    def image_exists(self, image: str) -> bool:
        """Return True for every image."""
        del image
        return True

    def has_program(self, image: str, program: str) -> bool:
        """Return None: nothing is known of any image."""
        del image, program
        return False

    def start(self, pod: Object, container: str, now: float) -> ProcessStart:
        """Start at once, and for good."""
        del pod, container, now
        return ProcessStart(0.0)

    def init(self, pod: Object, container: str, now: float) -> InitState:
        """Succeed at once."""
        del pod, container, now
        return InitState("Succeeded")

    def answers(self, pod: Object, container: str, port: int, path: str | None, now: float) -> bool:
        """Answer on every port."""
        del pod, container, port, path, now
        return True
