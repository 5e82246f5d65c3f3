"""The daemon's gRPC server: mutual TLS and generic handlers."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import grpc

from scenario_kit.errors import ToolchainError
from scenario_kit.lab.chaos_daemon.grpc_server import listen
from scenario_kit.lab.chaos_daemon.handlers import CallTarget, DaemonHandlers, Handler, Programs
from scenario_kit.lab.chaos_daemon.ledger import EffectStore
from scenario_kit.lab.chaos_daemon.network import Failed, NotSimulated
from scenario_kit.lab.chaos_daemon.protocol import Call, Messages

#: Calls that act on a pod's network namespace: they accept any container, or the pod's UID if none is running.
_NETWORK_CALLS = frozenset({"FlushIPSets", "SetIptablesChains", "SetTcs"})

#: Calls that name a process or an injection instead of a container.
_UNTARGETED_CALLS = frozenset({"CancelStressors", "RecoverBlockChaos"})

#: Encodings of an empty list of actions, which recovers IOChaos.
_NO_ACTIONS = frozenset({"", "[]", "null"})


class ServerTls(NamedTuple):
    """PEM contents: the certificate for ``SERVER_NAME`` with its key, and the CA of the clients."""

    certificate: bytes
    key: bytes
    client_authority: bytes


class CallRecord(NamedTuple):
    """One call. ``about`` is its metadata ``namespaced-name``; ``answer`` is ok or the error."""

    at: float
    call: str
    about: str
    pod_uid: str
    container_id: str
    answer: str


@dataclass(frozen=True)
class ContainerRuntime:
    """The daemon's access to running containers.

    ``pod_of`` returns the pod UID of a container ID (as in the pod's status), None if no such container is running.
    ``kill`` ends a container's process (container-kill); ``programs`` describes the programs in containers.
    """

    pod_of: Callable[[str], str | None]
    kill: Callable[[str, str], None]
    programs: Programs


class ChaosDaemonServer:
    """The daemon of all simulated nodes of one lab."""

    def __init__(
        self, messages: Messages, effect_store: EffectStore, tls: ServerTls, containers: ContainerRuntime
    ) -> None:
        handlers = DaemonHandlers(effect_store, containers.kill, containers.programs).handlers()
        if missing := sorted(set(handlers) - set(messages.calls)):
            raise ToolchainError(
                f"the installed Chaos Mesh does not have the calls {', '.join(missing)}",
                fix="install the version of Chaos Mesh that this release pins",
            )
        self._pod_of = containers.pod_of
        self._tls = tls
        self._records: deque[CallRecord] = deque(maxlen=1000)
        self._lock = threading.Lock()
        self._server: Any = None
        methods = {
            name: self._method(name, call, handlers[name]) for name, call in messages.calls.items() if name in handlers
        }
        self._service = grpc.method_handlers_generic_handler(messages.service, methods)

    def start(self, address: str, port: int = 0) -> int:
        """Listen on ``address``, which must not be loopback for the manager; return the port.

        Raises:
            LabError: the address cannot be bound, or a certificate is invalid.
        """
        credentials = grpc.ssl_server_credentials(
            [(self._tls.key, self._tls.certificate)],
            root_certificates=self._tls.client_authority,
            require_client_auth=True,
        )
        # The manager has one worker per chaos kind, which may time out and call again.
        self._server, bound = listen("chaos daemon", self._service, address, port, threads=16, credentials=credentials)
        return bound

    def stop(self) -> None:
        """Stop listening, and wait for active calls."""
        if self._server is not None:
            self._server.stop(grace=2.0).wait()
            self._server = None

    @property
    def records(self) -> Sequence[CallRecord]:
        """The latest calls, oldest first."""
        with self._lock:
            return tuple(self._records)

    def _method(self, name: str, call: Call, handler: Handler) -> Any:
        def serve(request: Any, context: Any) -> Any:
            target = CallTarget()
            about = next((value for key, value in context.invocation_metadata() if key == "namespaced-name"), "")
            code, answer = grpc.StatusCode.OK, "ok"
            reply: Any = None
            try:
                _require_tls13(context)
                target = self._target(name, request)
                reply = call.reply(**handler(target, request))
            except _Refused as error:
                code, answer = error.code, str(error)
            except NotSimulated as error:
                code, answer = grpc.StatusCode.UNIMPLEMENTED, str(error)
            except Failed as error:
                code, answer = grpc.StatusCode.UNKNOWN, str(error)
            except ValueError as error:
                code, answer = grpc.StatusCode.INVALID_ARGUMENT, str(error)
            with self._lock:
                self._records.append(CallRecord(time.time(), name, about, target.pod_uid, target.container_id, answer))
            if code is not grpc.StatusCode.OK:
                context.abort(code, answer)
            return reply

        return grpc.unary_unary_rpc_method_handler(
            serve, request_deserializer=call.request.FromString, response_serializer=call.reply.SerializeToString
        )

    def _target(self, name: str, request: Any) -> CallTarget:
        if name in _UNTARGETED_CALLS:
            return CallTarget()
        container_id = request.target if name == "ExecStressors" else request.container_id
        pod_uid = self._pod_of(container_id) if container_id else None
        if pod_uid is None and name in _NETWORK_CALLS:
            pod_uid = request.pod_uid
        if not pod_uid and name == "ApplyIOChaos" and request.actions in _NO_ACTIONS:
            # The injector ended with its container, so recovery succeeds.
            return CallTarget("", container_id)
        if not pod_uid:
            raise _Refused(grpc.StatusCode.NOT_FOUND, f"no running container {container_id!r} on this node")
        return CallTarget(pod_uid, container_id)


class _Refused(Exception):
    """A call that fails with a status."""

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def _require_tls13(context: Any) -> None:
    """Require TLS 1.3, as the manager uses; the gRPC library also negotiates 1.2 and has no option for it.

    Older releases of the library do not expose the version; a client certificate was required nevertheless.
    """
    spoken = [version.decode() for version in context.auth_context().get("ssl_tls_version", [])]
    if spoken not in ([], ["TLSv1.3"]):
        raise _Refused(grpc.StatusCode.UNAUTHENTICATED, f"{spoken[0]} was negotiated, expected TLSv1.3")
