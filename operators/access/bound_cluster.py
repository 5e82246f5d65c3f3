"""A cluster client that binds the operator's role in each namespace that it creates.

The operator's own ClusterRole cannot write the namespaced objects of an app. A second ClusterRole can, and the operator
binds it to itself in each namespace that it creates (docs/security.md). A missing binding, as in a namespace of an
earlier version, is created when the API server refuses a request.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from scenario_kit.errors import AlreadyExists, Forbidden
from scenario_kit.model import Object, Reference
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.ports import Cluster, Kind, LogLine, PatchType, Probed
from scenario_kit.schema.install import build_app_binding
from scenario_kit.schema.writable import OWNED

_T = TypeVar("_T")
#: Number and interval in seconds of the checks whether a new binding is effective.
_CHECKS: Final = 50
_PAUSE_SECONDS: Final = 0.2


@dataclass(frozen=True)
class BoundCluster:
    """Implements ``ports.Cluster`` with the operator's rights in the namespaces that it creates."""

    inner: Cluster
    pause: Callable[[float], None] = time.sleep

    def get(self, ref: Reference) -> Object | None:
        """See ``Cluster``."""
        return self._call(ref.namespace, lambda: self.inner.get(ref))

    def list(
        self, kind: str, namespace: str = "", *, group: str = "", labels: Mapping[str, str] | None = None
    ) -> list[Object]:
        """See ``Cluster``."""
        return self._call(namespace, lambda: self.inner.list(kind, namespace, group=group, labels=labels))

    def create(self, obj: Object) -> Object:
        """See ``Cluster``. In a new namespace, the operator's role is bound and effective on return."""
        created = self._call(_find_namespace(obj), lambda: self.inner.create(obj))
        if obj["kind"] == "Namespace":
            self._bind(created)
        return created

    def apply(self, obj: Object) -> Object:
        """See ``Cluster``."""
        return self._call(_find_namespace(obj), lambda: self.inner.apply(obj))

    def patch(self, ref: Reference, patch: Any, type: PatchType = "Merge", *, subresource: str = "") -> Object:
        """See ``Cluster``."""
        return self._call(ref.namespace, lambda: self.inner.patch(ref, patch, type, subresource=subresource))

    def delete(self, ref: Reference, *, uid: str = "", grace_seconds: int | None = None) -> None:
        """See ``Cluster``."""
        self._call(ref.namespace, lambda: self.inner.delete(ref, uid=uid, grace_seconds=grace_seconds))

    def evict(self, pod: Reference) -> None:
        """See ``Cluster``."""
        self._call(pod.namespace, lambda: self.inner.evict(pod))

    def kinds(self) -> Sequence[Kind]:
        """See ``Cluster``."""
        return self.inner.kinds()

    def logs(self, pod: Object, *, since: float = 0.0) -> Sequence[LogLine]:
        """See ``Cluster``."""
        return self._call(pod["metadata"]["namespace"], lambda: self.inner.logs(pod, since=since))

    def probe(self, pod: Reference, port: int, path: str = "") -> Probed:
        """See ``Cluster``."""
        return self._call(pod.namespace, lambda: self.inner.probe(pod, port, path))

    def _call(self, namespace: str, send: Callable[[], _T]) -> _T:
        """Send a request; if it is refused because the binding was missing, create that and send it again."""
        try:
            return send()
        except Forbidden:
            found = self.inner.get(Reference("Namespace", namespace)) if namespace else None
            if found is None or not self._bind(found):
                raise
        return send()

    def _bind(self, namespace: Object) -> bool:
        """Bind the operator's role in a namespace, and wait until that is effective; return whether it was missing."""
        name = namespace["metadata"]["name"]
        if is_terminating(namespace) or not _is_owned(namespace) or self._is_bound(name):
            return False
        with suppress(AlreadyExists):  # created by another thread
            self.inner.create(build_app_binding(name))
        for _ in range(_CHECKS):  # the authorizer watches bindings, so it sees them late
            if self._is_bound(name):
                break
            self.pause(_PAUSE_SECONDS)
        return True  # if it is still not effective, the repeated request gets the API server's error

    def _is_bound(self, namespace: str) -> bool:
        return is_allowed(self.inner, "list", "", "secrets", namespace)  # no other role grants this


def is_allowed(cluster: Cluster, verb: str, group: str, resource: str, namespace: str) -> bool:
    """Ask the API server whether the cluster's user may do something, by a SelfSubjectAccessReview.

    Every user may ask (``system:basic-user``,
    https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access).

    Args:
        cluster: the cluster.
        verb: a verb of the API.
        group: an API group; empty for core.
        resource: a resource, or one of its subresources: ``pods``, ``pods/log``.
        namespace: the namespace.
    """
    name, _, subresource = resource.partition("/")
    about = {"verb": verb, "group": group, "resource": name, "subresource": subresource, "namespace": namespace}
    review = {
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "metadata": {},
        "spec": {"resourceAttributes": about},
    }  # fmt: skip
    return bool(cluster.create(review)["status"]["allowed"])


def _is_owned(namespace: Object) -> bool:
    label, value = OWNED
    return bool((namespace["metadata"].get("labels") or {}).get(label) == value)


def _find_namespace(obj: Object) -> str:
    return str(obj["metadata"].get("namespace") or "")
