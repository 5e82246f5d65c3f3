"""An in-memory API server: versions, generations, conflicts, patches, finalizers; only deletion has a controller."""

from __future__ import annotations

import copy
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from scenario_kit.errors import AlreadyExists, Conflict, EvictionRefused, KitError, NotFound, Rejected
from scenario_kit.model import APP_NAMESPACE, Object, Reference
from scenario_kit.model.kubernetes.reference import read_group
from scenario_kit.model.kubernetes.timestamp import format_timestamp
from scenario_kit.ports import Kind, LogLine, PatchType, Probed
from scenario_kit.render.objects import merging
from scenario_kit.schema.object_types.kubernetes import list_versions
from scenario_kit.testing import eviction
from scenario_kit.testing.api_resources import CUSTOM_GROUPS, SCALABLE, WITH_STATUS, WITHOUT_GENERATION, list_defaults
from scenario_kit.testing.writes import patch_document, revise_object

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_Key = tuple[str, str, str, str]  # group, kind, namespace, name


class FakeCluster:
    """Implements ``ports.Cluster``.

    Args:
        objects: initial objects, stored unchanged with their status.
        field_manager: the field manager of every write.
        clock: the time for timestamps.
    """

    def __init__(
        self, objects: Iterable[Object] = (), *, field_manager: str = "platform", clock: Callable[[], float] = time.time
    ) -> None:
        self._manager = field_manager
        self._clock = clock
        self._kinds = list_defaults()
        self._custom = set(CUSTOM_GROUPS)
        self._objects: dict[_Key, Object] = {}
        self._applied: dict[_Key, Object] = {}
        self._lines: dict[tuple[str, str], list[LogLine]] = {}
        #: Probe results of ports, by namespace, pod and port; other ports refuse connections.
        self.answers: dict[tuple[str, str, int], Probed] = {}
        self._version = 0
        self._uids = 0
        #: Every request, in order: verb and target, such as ``("patch", "shop/Deployment/cart")``.
        self.requests: list[tuple[str, str]] = []
        #: Called before every request with its verb and target; may raise the server's error.
        self.before: Callable[[str, str], None] = _do_nothing
        for name in ("default", "kube-system"):
            self.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        for obj in objects:
            self.put(obj)

    # Test operations outside the API

    def put(self, obj: Object) -> Object:
        """Store an object unchanged, replacing an existing one; creates its namespace."""
        served = self._find(obj["kind"], read_group(obj), exact=True)
        namespace = obj["metadata"].get("namespace", "")
        if served.namespaced and ("", "Namespace", "", namespace) not in self._objects:
            self.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        fresh = copy.deepcopy(obj)
        key = (served.group, served.kind, namespace, fresh["metadata"]["name"])
        fresh["metadata"].setdefault("uid", self._objects.get(key, {}).get("metadata", {}).get("uid") or self._uid())
        return copy.deepcopy(self._store(key, self._born(served, fresh)))

    def log(self, namespace: str, pod: str, container: str, at: float, text: str) -> None:
        """Append a line to a container's log."""
        self._lines.setdefault((namespace, pod), []).append(LogLine(pod, container, at, text))

    # The port's operations

    def get(self, ref: Reference) -> Object | None:
        """Return the object, or None if it does not exist."""
        key = self._request("get", ref)
        return copy.deepcopy(self._objects.get(key))

    def list(
        self, kind: str, namespace: str = "", *, group: str = "", labels: Mapping[str, str] | None = None
    ) -> list[Object]:
        """List all objects of a kind, in one namespace or (empty) in all."""
        served = self._find(kind, group)
        self._say("list", f"{namespace}/{kind}" if namespace else kind)
        desired = (labels or {}).items()
        return [
            copy.deepcopy(obj)
            for key, obj in sorted(self._objects.items())
            if key[:2] == (served.group, served.kind)
            and (not namespace or not served.namespaced or key[2] == namespace)
            and desired <= (obj["metadata"].get("labels") or {}).items()
        ]

    def create(self, obj: Object) -> Object:
        """Create; raises ``AlreadyExists``."""
        served, key, fresh = self._prepare("create", obj)
        if key in self._objects:
            raise AlreadyExists(f'{served.plural} "{key[3]}" already exists', status=409)
        return self._create(served, key, fresh, "Update")

    def apply(self, obj: Object) -> Object:
        """Apply an object server-side, forced; fields of an earlier apply that are now missing are removed."""
        served, key, fresh = self._prepare("apply", obj)
        current, before = self._objects.get(key), self._applied.get(key, {})
        self._applied[key] = copy.deepcopy(fresh)
        if current is None:
            return self._create(served, key, fresh, "Apply")
        combine = merging.merge if served.group in self._custom else merging.apply_fields
        desired = combine(merging.drop_released_fields(current, before, fresh), fresh)
        return self._replace(served, key, self._set_managed_fields(desired, "Apply"))

    def patch(self, ref: Reference, patch: Any, type: PatchType = "Merge", *, subresource: str = "") -> Object:
        """Patch an object or one of its subresources; raises ``NotFound``."""
        key = self._request("patch", ref)
        served = self._find(ref.kind, ref.group)
        current = self._objects.get(key)
        if current is None:
            raise NotFound(f'{served.plural} "{ref.name}" not found', status=404)
        if type == "Strategic" and served.group in self._custom:
            raise Rejected("the body of the request was in an unknown format", status=415)
        if subresource == "scale" and served.kind in SCALABLE:
            return self._scale(served, key, patch, type)
        if subresource not in ("", "status") or (subresource and served.kind not in WITH_STATUS):
            raise NotFound(f"{served.plural} have no subresource {subresource}", status=404)
        return self._replace(
            served, key, self._set_managed_fields(patch_document(current, patch, type), "Update"), subresource
        )

    def delete(self, ref: Reference, *, uid: str = "", grace_seconds: int | None = None) -> None:
        """Delete in the background; no error if it is missing. With ``uid``, only that object (else ``Conflict``)."""
        key = self._request("delete", ref)
        current = self._objects.get(key)
        if current is None:
            return
        if uid and current["metadata"]["uid"] != uid:
            raise Conflict(f"the UID in the precondition ({uid}) is not that of {ref}", status=409)
        waits = (
            ref.kind == "Pod" and bool(current["spec"].get("nodeName")) and grace_seconds != 0
        )  # the kubelet deletes it
        current["metadata"].setdefault("deletionTimestamp", format_timestamp(self._clock()))
        if ref.kind == "Namespace":
            current["status"] = {"phase": "Terminating"}
            for inside in [k for k in self._objects if k[2] == ref.name]:
                self.delete(Reference(inside[1], inside[3], ref.name, inside[0]), grace_seconds=0)
            if key not in self._objects:  # it went with the last of its contents
                return
            waits = any(k[2] == ref.name for k in self._objects)
        if waits:
            self._touch(current)
        else:
            self._settle(key)

    def evict(self, pod: Reference) -> None:
        """Evict a pod; no error if it is missing. ``EvictionRefused`` if a disruption budget forbids it."""
        current = self._objects.get(self._request("evict", pod))
        if current is None:
            return
        group, kind = "policy", "PodDisruptionBudget"
        budgets = [o for key, o in self._objects.items() if key[:3] == (group, kind, pod.namespace)]
        why, spent = eviction.find_refusal(current, budgets)
        if why:
            raise EvictionRefused(why, status=500 if why == eviction.SEVERAL else 429)
        if spent is not None:
            spent["status"]["disruptionsAllowed"] -= 1
            spent["status"].setdefault("disruptedPods", {})[pod.name] = format_timestamp(self._clock())
            self._touch(spent)
        self.delete(pod)

    def kinds(self) -> Sequence[Kind]:
        """Return every kind that can be listed."""
        self._say("kinds", "")
        return list(self._kinds)

    def logs(self, pod: Object, *, since: float = 0.0) -> Sequence[LogLine]:
        """Return lines of all containers of a pod, oldest first; ``NotFound`` if the pod is gone."""
        ref = Reference("Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])
        if self._request("logs", ref) not in self._objects:
            raise NotFound(f'pods "{ref.name}" not found', status=404)
        lines = [line for line in self._lines.get((ref.namespace, ref.name), ()) if line.at >= since]
        return sorted(lines, key=lambda line: line.at)

    def probe(self, pod: Reference, port: int, path: str = "") -> Probed:
        """Return the result in ``answers``; a connection without a path has no status."""
        if self._request("probe", pod) not in self._objects:
            raise NotFound(f'pods "{pod.name}" not found', status=404)
        answer = self.answers.get((pod.namespace, pod.name, port), Probed(False, None, "connection refused"))
        return answer if path else answer._replace(status=None)

    # Implementation of writes

    def _prepare(self, verb: str, obj: Object) -> tuple[Kind, _Key, Object]:
        served = self._find(obj["kind"], read_group(obj), exact=True)
        _require_version(obj, served.group)
        fresh = copy.deepcopy(obj)
        metadata = fresh["metadata"]
        if "name" not in metadata and metadata.get("generateName"):
            metadata["name"] = f"{metadata['generateName']}{self._uids:05d}"
        name, namespace = metadata.get("name", ""), metadata.get("namespace", "")
        self._say(verb, f"{namespace}/{served.kind}/{name}" if namespace else f"{served.kind}/{name}")
        if served.namespaced and not namespace:
            raise KitError(f"{obj['kind']} {name}: metadata.namespace is missing")
        if not _NAME.fullmatch(name) and served.group != "rbac.authorization.k8s.io":
            raise Rejected(f'{served.kind} "{name}" is invalid: metadata.name', status=422)
        key = (served.group, served.kind, namespace if served.namespaced else "", name)
        if served.namespaced:
            home = self._objects.get(("", "Namespace", "", namespace))
            if home is None:
                raise NotFound(f'namespaces "{namespace}" not found', status=404)
            if home["metadata"].get("deletionTimestamp") and key not in self._objects:
                raise Rejected(f"namespace {namespace} is being terminated", status=403)
        return served, key, fresh

    def _create(self, served: Kind, key: _Key, fresh: Object, operation: str) -> Object:
        fresh["metadata"]["uid"] = self._uid()
        if served.kind in WITH_STATUS:
            fresh.pop("status", None)
        return copy.deepcopy(self._store(key, self._set_managed_fields(self._born(served, fresh), operation)))

    def _born(self, served: Kind, fresh: Object) -> Object:
        metadata = fresh["metadata"]
        metadata.setdefault("creationTimestamp", format_timestamp(self._clock()))
        if served.kind not in WITHOUT_GENERATION:
            metadata.setdefault("generation", 1)
        if served.kind == "Pod":
            fresh.setdefault("status", {"phase": "Pending"})
        if served.kind == "Namespace":
            fresh.setdefault("status", {"phase": "Active"})
        if served.kind == "CustomResourceDefinition":
            spec = fresh["spec"]
            self._custom.add(spec["group"])
            names, version = spec["names"], spec["versions"][0]["name"]
            self._kinds.append(
                Kind(spec["group"], version, names["kind"], names["plural"], spec["scope"] == "Namespaced")
            )
        return fresh

    def _replace(self, served: Kind, key: _Key, desired: Object, subresource: str = "") -> Object:
        """Store the desired object except for immutable fields; no effect if nothing differs."""
        stored = revise_object(served, self._objects[key], desired, subresource)
        if stored is None:
            return copy.deepcopy(self._objects[key])
        self._store(key, stored)
        answer = copy.deepcopy(stored)
        if stored["metadata"].get("deletionTimestamp"):
            self._settle(key)
        return answer

    def _scale(self, served: Kind, key: _Key, patch: Any, type_: PatchType) -> Object:
        current = self._objects[key]
        metadata = {k: current["metadata"][k] for k in ("name", "namespace", "uid", "resourceVersion")}
        scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata}
        scale["spec"] = {"replicas": current["spec"].get("replicas", 1)}
        desired = patch_document(scale, patch, type_)
        spec = {**current["spec"], "replicas": desired["spec"]["replicas"]}
        stored = self._replace(served, key, copy.deepcopy({**current, "spec": spec}))
        metadata["resourceVersion"] = stored["metadata"]["resourceVersion"]
        return {**desired, "metadata": metadata}

    def _settle(self, key: _Key) -> None:
        """Remove a deleted object without finalizers, and its dependents."""
        obj = self._objects[key]
        if obj["metadata"].get("finalizers"):
            self._touch(obj)
            return
        del self._objects[key]
        self._applied.pop(key, None)
        self._version += 1
        uids = {o["metadata"]["uid"] for o in self._objects.values()}
        for other, dependent in list(self._objects.items()):
            owners = dependent["metadata"].get("ownerReferences") or ()
            if owners and not any(o["uid"] in uids for o in owners) and other in self._objects:
                self.delete(Reference(other[1], other[3], other[2] or APP_NAMESPACE, other[0]))
        home = self._objects.get(("", "Namespace", "", key[2]))
        if home and home["metadata"].get("deletionTimestamp") and not any(k[2] == key[2] for k in self._objects):
            self._settle(("", "Namespace", "", key[2]))

    def _store(self, key: _Key, obj: Object) -> Object:
        self._objects[key] = obj
        self._touch(obj)
        return obj

    def _touch(self, obj: Object) -> None:
        self._version += 1
        obj["metadata"]["resourceVersion"] = str(self._version)

    def _uid(self) -> str:
        self._uids += 1
        return f"00000000-0000-4000-8000-{self._uids:012d}"

    def _set_managed_fields(self, obj: Object, operation: str) -> Object:
        entry = {"manager": self._manager, "operation": operation, "apiVersion": obj.get("apiVersion", "v1")}
        fields = [e for e in obj["metadata"].get("managedFields", ()) if e["operation"] != operation]
        obj["metadata"]["managedFields"] = [*fields, {**entry, "fieldsType": "FieldsV1", "fieldsV1": {}}]
        return obj

    def _request(self, verb: str, ref: Reference) -> _Key:
        served = self._find(ref.kind, ref.group)
        if served.namespaced and ref.namespace == APP_NAMESPACE:
            raise KitError(f"{ref}: unresolved symbolic namespace; call Reference.within first")
        self._say(verb, str(ref) if served.namespaced else f"{ref.kind}/{ref.name}")
        return (served.group, served.kind, ref.namespace if served.namespaced else "", ref.name)

    def _say(self, verb: str, target: str) -> None:
        self.before(verb, target)
        self.requests.append((verb, target))

    def _find(self, kind: str, group: str = "", *, exact: bool = False) -> Kind:
        exact = exact or bool(group)
        match = next((k for k in self._kinds if k.kind == kind and (not exact or k.group == group)), None)
        if match is None:
            raise NotFound(f"the server serves no kind {kind}{'.' + group if group else ''}", status=404)
        return match


def _require_version(obj: Object, group: str) -> None:
    """Reject an object of a version in which Kubernetes does not serve its kind."""
    versions = [each for each in list_versions(obj["kind"]) if each.rpartition("/")[0] == group]
    if versions and obj["apiVersion"] not in versions:
        message = f"the server serves no {obj['kind']} of {obj['apiVersion']}; it serves {versions[0]}"
        raise Rejected(message, status=404)


def _do_nothing(verb: str, target: str) -> None:
    """Accept every request; the default of ``FakeCluster.before``."""
