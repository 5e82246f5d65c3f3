"""The Chaos Mesh DNS server as seen by the manager: which pods get wrong answers for which names.

The original is CoreDNS with the plugin ``k8s_dns_chaos``; the two calls below are its protocol (``pb/dns.proto``). A
pod is affected once the daemon has pointed it at this server (``SetDNSServer``).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

import grpc

from scenario_kit.lab.chaos_daemon.endpoints import NAME_SERVICE
from scenario_kit.lab.chaos_daemon.grpc_server import listen
from scenario_kit.lab.chaos_daemon.ledger import EffectKey, EffectStore
from scenario_kit.lab.chaos_daemon.protocol import load_name_server_messages
from scenario_kit.model import ContainerEffect, Object

#: The labels of its pod in the Chaos Mesh chart.
_LABELS: Final = {"app.kubernetes.io/component": "chaos-dns-server"}
#: The kind of these effects in the ledger.
KIND: Final = "Names"


class ChaosNameServer:
    """Maintain the ledger's DNS effects.

    ``uid_of`` returns a pod's UID by namespace and name, None if there is none. ``is_manager`` returns whether a
    connection comes from the manager, by the client's port and the server's: the manager speaks without TLS here, so
    that nothing in a call tells who makes it.

    As in the original, a pod has one set of rules, the last one, and an experiment covers the pods of its last call.
    """

    def __init__(
        self,
        effect_store: EffectStore,
        uid_of: Callable[[str, str], str | None],
        is_manager: Callable[[int, int], bool],
    ) -> None:
        self._effect_store = effect_store
        self._is_manager = is_manager
        self._port = 0
        self._uid_of = uid_of
        self._lock = threading.Lock()
        self._concerned: dict[str, list[str]] = {}
        self._server: Any = None

    def start(self, address: str, port: int) -> int:
        """Listen without TLS, which the manager does not use here; return the port.

        Raises:
            LabError: the address cannot be bound.
        """
        messages = load_name_server_messages()
        answers = {"SetDNSChaos": self._set, "CancelDNSChaos": self._cancel}
        methods = {
            name: grpc.unary_unary_rpc_method_handler(
                self._reply_with(answers[name], call.reply),
                request_deserializer=call.request.FromString,
                response_serializer=call.reply.SerializeToString,
            )
            for name, call in messages.calls.items()
        }
        service = grpc.method_handlers_generic_handler(messages.service, methods)
        self._server, bound = listen("chaos name server", service, address, port, threads=4)
        self._port = bound
        return bound

    def stop(self) -> None:
        """Stop listening, and wait for active calls."""
        if self._server is not None:
            self._server.stop(grace=2.0).wait()
            self._server = None

    def _reply_with(self, answer: Callable[[Any], str], reply: Any) -> Callable[[Any, Any], Any]:
        def serve(request: Any, context: Any) -> Any:
            port = context.peer().rpartition(":")[2]
            if not port.isdecimal() or not self._is_manager(int(port), self._port):
                context.abort(grpc.StatusCode.UNAUTHENTICATED, "only the Chaos Mesh manager of this lab may ask")
            problem = answer(request)
            return reply(result=not problem, msg=problem)

        return serve

    def _set(self, request: Any) -> str:
        found = {f"{pod.namespace}/{pod.name}": self._uid_of(pod.namespace, pod.name) for pod in request.pods}
        if missing := sorted(name for name, uid in found.items() if uid is None):
            return f"no such pod: {', '.join(missing)}"
        if invalid := _find_invalid_pattern(request.patterns):
            return invalid
        uids = [uid for uid in found.values() if uid is not None]
        arguments = {"action": request.action, "patterns": list(request.patterns)}
        with self._lock:
            self._concerned[request.name] = uids
            for uid in uids:
                effect = ContainerEffect(pod_uid=uid, container_id="", kind=KIND, arguments=arguments)
                self._effect_store.put(EffectKey(KIND, uid), effect)
        return ""

    def _cancel(self, request: Any) -> str:
        with self._lock:
            for uid in self._concerned.pop(request.name, ()):
                self._effect_store.remove(EffectKey(KIND, uid))
        return ""


def _find_invalid_pattern(patterns: Sequence[str]) -> str:
    """Return the server's message for patterns that its trie refuses; empty if it takes all."""
    seen: set[str] = set()
    for pattern in patterns:
        if not pattern:
            return "schema pattern  or rule true can't be empty"
        # A name ends with a dot, so the server adds each pattern without star with one, too.
        for word in (pattern,) if "*" in pattern else (pattern, f"{pattern}."):
            if "*" in word[:-1]:
                return f"insert into schema selector: pattern {word} not valid"
            if word in seen:
                return f"insert into schema selector: pattern {word} already exists"
            seen.add(word)
    return ""


def build_objects(namespace: str) -> tuple[Object, Object]:
    """Build the Service and the pod by which the manager finds the server. The pod is never scheduled; see
    ``build_status``.
    """
    service: Object = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": NAME_SERVICE, "namespace": namespace, "labels": _LABELS},
        "spec": {"selector": _LABELS, "ports": [{"name": "dns", "port": 53, "protocol": "UDP"}]},
    }
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "chaos-dns-server", "namespace": namespace, "labels": _LABELS},
        "spec": {"schedulerName": "none", "containers": [{"name": "dns", "image": "ghcr.io/chaos-mesh/chaos-coredns"}]},
    }
    return service, pod


def build_status(address: str) -> Object:
    """Build the pod status with the server's address, which the manager dials."""
    return {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]}
