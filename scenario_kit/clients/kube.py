"""The ``Cluster`` port on a Kubernetes API."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from scenario_kit.clients import probing
from scenario_kit.clients.api_errors import NotServed
from scenario_kit.clients.discovery import Discovery
from scenario_kit.clients.logs import parse_lines
from scenario_kit.clients.transport import Transport
from scenario_kit.clients.watch import Collection, follow
from scenario_kit.errors import KitError, NotFound, Rejected
from scenario_kit.model import APP_NAMESPACE, Object, Reference
from scenario_kit.model.kubernetes.reference import read_group
from scenario_kit.model.kubernetes.timestamp import format_timestamp
from scenario_kit.ports import Kind, LogLine, PatchType, Probed

_PATCHES: dict[str, str] = {
    "Json": "application/json-patch+json",
    "Merge": "application/merge-patch+json",
    "Strategic": "application/strategic-merge-patch+json",
}


class KubeCluster:
    """A Kubernetes API with plain objects; implements ``ports.Cluster``; thread-safe.

    Args:
        kubeconfig: the file; None for ``KUBECONFIG``, the default file, or the pod's service account.
        context: a context of it; None for the current one.
        field_manager: the field manager of every write.
        as_user: the user to impersonate.

    Raises:
        ClusterError: there is no usable configuration. The constructor sends no request.
    """

    def __init__(
        self,
        kubeconfig: Path | None = None,
        context: str | None = None,
        field_manager: str = "platform",
        *,
        as_user: str = "",
    ) -> None:
        self._transport = Transport(kubeconfig, context, as_user)
        self._discovery = Discovery(self._transport)
        self._write = {"fieldManager": field_manager, "fieldValidation": "Strict"}

    @property
    def server_url(self) -> str:
        """The URL of the API server."""
        return self._transport.url

    @property
    def namespace(self) -> str:
        """The default namespace of the kubeconfig's context."""
        return self._transport.namespace

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def get(self, ref: Reference) -> Object | None:
        """Return the object, or None if it does not exist; ``NotFound`` if its kind does not."""
        path = self._path(ref)
        try:
            found: Object = self._transport.json("GET", path)
        except NotServed:
            raise
        except NotFound:
            return None
        return found

    def list(
        self, kind: str, namespace: str = "", *, group: str = "", labels: Mapping[str, str] | None = None
    ) -> list[Object]:
        """List all objects of a kind, in one namespace or (empty) in all."""
        served = self._discovery.find(kind, group)
        query = {"labelSelector": ",".join(f"{k}={v}" for k, v in labels.items())} if labels else {}
        answer = self._transport.json("GET", _build_collection_path(served, namespace), query)
        return Collection(served).items(answer)

    def create(self, obj: Object) -> Object:
        """Create; raises ``AlreadyExists``."""
        served = self._kind_of(obj)
        path = _build_collection_path(served, _find_namespace(obj, served))
        return self._send("POST", path, self._write, obj, "application/json")

    def apply(self, obj: Object) -> Object:
        """Apply an object server-side, forced."""
        served = self._kind_of(obj)
        path = f"{_build_collection_path(served, _find_namespace(obj, served))}/{quote(obj['metadata']['name'])}"
        query = {**self._write, "force": "true"}
        return self._send("PATCH", path, query, obj, "application/apply-patch+yaml")

    def patch(self, ref: Reference, patch: Any, type: PatchType = "Merge", *, subresource: str = "") -> Object:
        """Patch an object or one of its subresources; raises ``NotFound``."""
        path = self._path(ref) + (f"/{subresource}" if subresource else "")
        patched: Object = self._transport.json("PATCH", path, self._write, patch, _PATCHES[type])
        return patched

    def delete(self, ref: Reference, *, uid: str = "", grace_seconds: int | None = None) -> None:
        """Delete in the background; no error if it is missing. With ``uid``, only that object (else ``Conflict``)."""
        options: Object = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        if uid:
            options["preconditions"] = {"uid": uid}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        path = self._path(ref)
        try:
            self._transport.json("DELETE", path, body=options)
        except NotServed:
            raise
        except NotFound:
            return

    def evict(self, pod: Reference) -> None:
        """Evict a pod; no error if it is missing. ``EvictionRefused`` if a disruption budget forbids it."""
        metadata = {"name": pod.name, "namespace": pod.namespace}
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        try:
            self._transport.json("POST", f"{self._path(pod)}/eviction", body=eviction)
        except NotServed:
            raise
        except NotFound:
            return

    def request_token(self, account: Reference, seconds: int) -> str:
        """Request a token of a ServiceAccount with this lifetime; ``NotFound`` if the account does not exist.

        The API server requires at least 600 seconds, and may issue a shorter lifetime
        (https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/).
        """
        request = {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": seconds},
        }  # fmt: skip
        return str(self._transport.json("POST", f"{self._path(account)}/token", body=request)["status"]["token"])

    def kinds(self) -> Sequence[Kind]:
        """Return every kind that can be listed."""
        return self._discovery.kinds()

    def logs(self, pod: Object, *, since: float = 0.0) -> Sequence[LogLine]:
        """Return lines of all containers of a pod, oldest first; a container that has not started has none."""
        ref = Reference("Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])
        query = {"timestamps": "true"}
        if since > 0:
            query["sinceTime"] = format_timestamp(since)
        lines: list[LogLine] = []
        for container in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]):
            name = container["name"]
            try:
                data = self._transport.raw("GET", f"{self._path(ref)}/log", {**query, "container": name}, accept="*/*")
            except Rejected:
                continue  # 400: "container … is waiting to start", i.e. no lines
            lines += parse_lines(data, ref.name, name, since)
        return sorted(lines, key=lambda line: line.at)

    def probe(self, pod: Reference, port: int, path: str = "") -> Probed:
        """Probe a port of a pod; ``NotFound`` if the pod does not exist."""
        if self.get(pod) is None:
            raise NotFound(f"Pod {pod.namespace}/{pod.name} does not exist", status=404)
        if path:
            return probing.probe_http(self._transport, self._path(pod), port, path)
        return probing.probe_tcp(self._transport, pod, port)

    def watch(
        self, kind: str, *, group: str = "", namespace: str = "", stop: threading.Event
    ) -> Iterator[tuple[str, Object]]:
        """Yield all existing objects, then all events, until ``stop``.

        Yields ``("ADDED" | "MODIFIED" | "DELETED", object)`` and, after each complete list, ``("SYNCED", {})``.
        Broken connections and expired versions (410) are handled: a relist yields only the differences.

        Raises:
            ClusterError: the first list fails, or a later one is refused for a reason other than reachability.
        """
        served = self._discovery.find(kind, group)
        return follow(self._transport, Collection(served), _build_collection_path(served, namespace), stop)

    def _send(self, verb: str, path: str, query: Mapping[str, str], obj: Object, media: str) -> Object:
        """Send a whole object; ``Rejected`` if its kind is served in another version only."""
        try:
            written: Object = self._transport.json(verb, path, query, obj, media)
        except NotServed as error:
            known = self._find_preferred(obj)
            preferred = f"{known.group}/{known.version}".lstrip("/")
            if preferred == obj["apiVersion"]:
                raise  # the whole kind is gone
            message = f"{self.server_url} serves no {obj['kind']} of {obj['apiVersion']}; it serves {preferred}"
            raise Rejected(message, status=404, fix=f"write `apiVersion: {preferred}`") from error
        return written

    def _kind_of(self, obj: Object) -> Kind:
        return self._find_preferred(obj)._replace(version=obj["apiVersion"].rpartition("/")[2])

    def _find_preferred(self, obj: Object) -> Kind:
        """Find the kind of an object in the version that its group prefers."""
        group = read_group(obj)
        return self._discovery.find(obj["kind"], group, core=not group)

    def _path(self, ref: Reference) -> str:
        served = self._discovery.find(ref.kind, ref.group)
        if served.namespaced and ref.namespace == APP_NAMESPACE:
            raise KitError(f"{ref}: unresolved symbolic namespace; call Reference.within first")
        return f"{_build_collection_path(served, ref.namespace)}/{quote(ref.name)}"


def _build_collection_path(kind: Kind, namespace: str) -> str:
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    inside = f"/namespaces/{quote(namespace)}" if kind.namespaced and namespace else ""
    return f"{root}{inside}/{kind.plural}"


def _find_namespace(obj: Object, kind: Kind) -> str:
    namespace = str(obj["metadata"].get("namespace", ""))
    if kind.namespaced and not namespace:
        raise KitError(f"{obj['kind']} {obj['metadata'].get('name', '')}: metadata.namespace is missing")
    return namespace
