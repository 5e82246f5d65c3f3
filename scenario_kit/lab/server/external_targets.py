"""A webhook that resolves names in ``externalTargets`` of a NetworkChaos before the manager sees them.

In a cluster, the manager runs in a pod and uses the cluster's DNS. In a lab, it is a process of this machine, whose
resolver knows no Services. So the lab's API server calls this webhook, which replaces names by addresses.
"""

from __future__ import annotations

import base64
import ssl
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from ipaddress import ip_address, ip_network
from typing import Any, Final

import msgspec

from scenario_kit.lab import chaos_webhooks
from scenario_kit.lab.control_plane.bootstrap_manifests import CHAOS_NAMESPACE
from scenario_kit.lab.host.http_server import Answer, Request, answer_json, build_refusal, create_server
from scenario_kit.lab.server.cluster_names import ClusterNames
from scenario_kit.model.base import Object, encode_json
from scenario_kit.model.chaos.kinds import get_experiment

_KIND: Final = "NetworkChaos"
_FIELD: Final = "externalTargets"


class ExternalTargets:
    """Handles admission reviews; independent of sockets."""

    def __init__(self, names: ClusterNames) -> None:
        self._names = names

    def answer(self, request: Request) -> Answer:
        """Handle one admission review."""
        if request.method != "POST" or request.path != chaos_webhooks.TARGETS_PATH:
            return build_refusal(404, "not found")
        try:
            review = msgspec.json.decode(request.body)
            asked = review["request"]
            response = {"uid": asked["uid"], **self._judge_object(asked["object"])}
        except (msgspec.DecodeError, KeyError, TypeError) as error:
            return build_refusal(400, f"not an admission review: {error!r}")
        return answer_json(200, {"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response})

    def _judge_object(self, obj: Object) -> Object:
        patch = []
        for path, targets in _list_targets(obj):
            found: list[str] = []
            for i, target in enumerate(targets):
                resolved = self._resolve_target(str(target))
                if isinstance(resolved, str):
                    message = f"{path.strip('/').replace('/', '.')}[{i}]: {resolved}"
                    return {"allowed": False, "status": {"code": 422, "reason": "Invalid", "message": message}}
                found += resolved
            if found != list(targets):
                patch.append({"op": "replace", "path": path, "value": found})
        if not patch:
            return {"allowed": True}
        return {
            "allowed": True,
            "patchType": "JSONPatch",
            "patch": base64.b64encode(encode_json(patch)).decode(),
        }

    def _resolve_target(self, target: str) -> list[str] | str:
        """Return a target with its name replaced by addresses, or the resolution error."""
        host, colon, port = target.rpartition(":") if target.count(":") == 1 else (target, "", "")
        if is_address(host):
            return [target]
        found = self._names.resolve(host, CHAOS_NAMESPACE)
        return [f"{address}{colon}{port}" for address in found.addresses] or found.problem


def is_address(host: str) -> bool:
    """Return whether a target is an address or CIDR, which needs no resolution."""
    for read in (ip_address, lambda text: ip_network(text, strict=False)):
        try:
            read(host)
        except ValueError:
            continue
        return True
    return False


def _list_targets(obj: Object) -> Iterator[tuple[str, list[Any]]]:
    """Yield the targets of an object with their JSON pointers."""
    kind, spec, place = get_experiment(obj)
    if kind == _KIND and spec.get(_FIELD):
        yield "/".join(("", *place, _FIELD)), spec[_FIELD]


def serve(targets: ExternalTargets, port: int, tls: ssl.SSLContext) -> ThreadingHTTPServer:
    """Create a server on loopback, not running yet.

    Raises:
        OSError: the port is in use.
    """
    return create_server(targets.answer, port, name="cluster-names", any_host=True, tls=tls)
