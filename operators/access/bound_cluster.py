"""The cluster as the operator uses it: in a namespace that it made it binds its role before it writes there.

The operator's ClusterRole writes no namespaced object of an app. What it may write in the namespaces of apps is another
ClusterRole, which it binds to itself in each namespace that it makes (docs/security.md). A namespace of an earlier
version, or one whose binding was removed, gets it when the API server refuses a request there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from scenario_kit.errors import AlreadyExists, Forbidden
from scenario_kit.model import Object, Reference
from scenario_kit.ports import Cluster, Kind, LogLine, PatchType, Probed
from scenario_kit.schema.install import build_app_binding
from scenario_kit.schema.writable import OWNED

_T = TypeVar("_T")
#: Number and interval in seconds of the checks whether a new binding is effective.
_TRIES: Final = 50
_PAUSE_SECONDS: Final = 0.2


@dataclass(frozen=True)
class BoundCluster:
    """Implements ``ports.Cluster`` by another one, with the operator's rights in the namespaces that it made."""

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
        """See ``Cluster``. In a new namespace of the operator its role is bound, and in force."""
        made = self._call(_find_namespace(obj), lambda: self.inner.create(obj))
        if obj["kind"] == "Namespace":
            self._bind(obj["metadata"]["name"])
        return made

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
        """Send a request; one that is refused is sent again if the role was not bound in its namespace."""
        try:
            return send()
        except Forbidden:
            if not namespace or not self._bind(namespace):
                raise
        return send()

    def _bind(self, namespace: str) -> bool:
        """Bind the operator's role in a namespace that it made; return whether that was missing, and is in force."""
        home = self.inner.get(Reference("Namespace", namespace))
        if home is None or home["metadata"].get("deletionTimestamp") or not _is_owned(home):
            return False
        if self._is_bound(namespace):
            return False
        with suppress(AlreadyExists):  # by another thread, and the authorizer learns of it by a watch
            self.inner.create(build_app_binding(namespace))
        for _ in range(_TRIES):
            if self._is_bound(namespace):
                break
            self.pause(_PAUSE_SECONDS)
        return True  # the caller gets the API server's error

    def _is_bound(self, namespace: str) -> bool:
        return is_allowed(self.inner, "list", "", "secrets", namespace)  # a right that no other role gives


def is_allowed(cluster: Cluster, verb: str, group: str, resource: str, namespace: str) -> bool:
    """Ask the API server whether the cluster's user may do something, by a SelfSubjectAccessReview.

    Every user may ask (``system:basic-user``,
    https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access).

    Args:
        cluster: the cluster.
        verb: a verb of the API.
        group: an API group; empty for core.
        resource: a resource, or one of its subresources: ``pods``, ``pods/log``.
        namespace: where.
    """
    name, _, below = resource.partition("/")
    about = {"verb": verb, "group": group, "resource": name, "subresource": below, "namespace": namespace}
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
