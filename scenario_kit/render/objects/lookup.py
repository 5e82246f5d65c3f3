"""Look-ups in rendered objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scenario_kit.model import APP_NAMESPACE, Object, Reference
from scenario_kit.model.kubernetes.pod_labels import selects_pods
from scenario_kit.model.kubernetes.reference import WORKLOADS, read_group, resolve_namespace, symbolise_namespace
from scenario_kit.model.spelling import did_you_mean
from scenario_kit.render.templating.authoring_error import build_error


def format_reference(obj: Object, namespace: str = "") -> Reference:
    """Return the reference of a manifest relative to an app in ``namespace``; by default kind and name."""
    kind, name = obj["kind"], obj["metadata"]["name"]
    own = obj["metadata"].get("namespace", namespace)
    return Reference(kind, name, symbolise_namespace(own, namespace) if namespace else APP_NAMESPACE)


def look_up(objects: Iterable[Object], ref: Reference, namespace: str) -> Object | None:
    """Find the object that a reference names, if any; the group is compared only if the reference has one."""
    accepted = (None, resolve_namespace(namespace, ref.namespace), ref.namespace)
    kind, name = ref.kind, ref.name
    for obj in objects:
        if obj["kind"] != kind or (metadata := obj["metadata"])["name"] != name:
            continue
        if metadata.get("namespace") not in accepted:
            continue
        if not ref.group or read_group(obj) == ref.group:
            return obj
    return None


def find_object(objects: Sequence[Object], ref: Reference, namespace: str, what: str, code: str = "SK110") -> Object:
    """Find the object that a reference names.

    Raises:
        AuthoringError: the app has no such object; ``what`` prefixes the message, ``code`` is the finding's code.
    """
    found = look_up(objects, ref, namespace)
    if found is None:
        known = [format_reference(o, namespace) for o in objects]
        same = [k for k in known if f"/{ref.kind}/" in f"/{k}"] or known
        raise build_error(
            code,
            f"{what}: '{ref}' is not among the app's objects",
            observed=str(ref),
            expected=f"one of {len(same)} objects of the app",
            why="an object that does not exist cannot be changed, nor identified as a cause",
            fix=did_you_mean(ref, same, default="`scenario-kit render` lists the objects"),
        )
    return found


def find_workload_behind(objects: Sequence[Object], obj: Object) -> Object | None:
    """Return a workload itself, or the one that a Service selects; None for other objects."""
    if obj["kind"] in WORKLOADS:
        return obj
    selector = (obj.get("spec") or {}).get("selector") if obj["kind"] == "Service" else None
    if not selector:
        return None
    home = obj["metadata"].get("namespace")
    near = [o for o in objects if o["kind"] in WORKLOADS and o["metadata"].get("namespace", home) == home]
    return next((o for o in near if selects_pods(selector, o)), None)


def read_spec(obj: Object) -> Mapping[str, Any]:
    """Return the spec of an object; empty if it has none, as a ConfigMap."""
    return obj.get("spec") or {}
