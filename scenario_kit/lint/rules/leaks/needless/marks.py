"""Labels that nothing selects, and annotations that nothing reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from scenario_kit.lint.rules.leaks.needless.surroundings import METADATA, Needless, ObjectSurroundings
from scenario_kit.model import Object
from scenario_kit.model.json_document import Place, get_part

_SWITCH: Final = r"true|false|enabled|disabled|yes|no|on|off"
_QUANTITY: Final = r"[-+]?\d+(?:\.\d+)?(?:[a-zA-Z]{1,2}|%)?"
_TIME: Final = r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[-+]\d\d:\d\d)"
_PORTS: Final = r"[\d,*./:-]*"
#: Annotations that platform components read, with their valid values.
_ANNOTATIONS: Final = {
    r"kubectl\.kubernetes\.io/restartedAt": _TIME,
    r"kubernetes\.io/ingress\.class": r"[a-z0-9-]{1,20}",
    r"(?:ingressclass|storageclass)\.kubernetes\.io/is-default-class": _SWITCH,
    r"cluster-autoscaler\.kubernetes\.io/[a-z-]+": _SWITCH,
    r"controller\.kubernetes\.io/pod-deletion-cost": _QUANTITY,
    r"service\.kubernetes\.io/topology-mode": r"Auto|Disabled",
    r"container\.apparmor\.security\.beta\.kubernetes\.io/[a-z0-9-]+": r"runtime/default|unconfined",
    r"kubernetes\.io/(?:ingress|egress)-bandwidth": _QUANTITY,
    r"nginx\.ingress\.kubernetes\.io/[a-z0-9-]+": rf"{_SWITCH}|{_QUANTITY}|HTTPS?|GRPCS?|/[$\d]*",
    r"sidecar\.istio\.io/inject": _SWITCH,
    r"(?:sidecar|traffic\.sidecar|proxy)\.istio\.io/[A-Za-z]+": rf"{_SWITCH}|{_QUANTITY}|{_PORTS}",
    r"linkerd\.io/inject|config\.linkerd\.io/[a-z-]+": rf"{_SWITCH}|ingress|{_QUANTITY}|{_PORTS}",
    r"prometheus\.io/(?:scrape|port|path|scheme)": rf"{_SWITCH}|\d+|/[a-z/]*|https?",
    r"(?:experiment|schedule)\.chaos-mesh\.org/pause|chaos-mesh\.org/inject": _SWITCH,
}
#: Labels that platform components read, with their valid values.
_LABELS: Final = {
    r"pod-security\.kubernetes\.io/(?:enforce|warn|audit)": r"privileged|baseline|restricted",
    r"pod-security\.kubernetes\.io/(?:enforce|warn|audit)-version": r"latest|v1\.\d+",
    r"istio-injection|sidecar\.istio\.io/inject": _SWITCH,
    r"istio\.io/dataplane-mode": r"none|ambient",
    r"istio\.io/(?:rev|use-waypoint)": r"[a-z0-9-]{1,20}",
    r"topology\.kubernetes\.io/(?:zone|region)|kubernetes\.io/(?:arch|os|hostname)": r"[a-z0-9.-]{1,40}",
    r"node\.kubernetes\.io/exclude-from-external-load-balancers": r"|true|false",
    r"kubernetes\.io/service-name|endpointslice\.kubernetes\.io/managed-by": r"[a-z0-9.-]{1,63}",
    r"rbac\.authorization\.k8s\.io/aggregate-to-[a-z]+": _SWITCH,
}
#: Conventional labels, allowed with any neutral value.
_CONVENTION: Final = re.compile(
    r"app|name|component|(?:app|helm)\.(?:kubernetes\.io|sh)/[a-z-]+|k8s-app|opentelemetry\.io/name"
)
_READ: Final = {
    "annotations": [(re.compile(k), re.compile(v)) for k, v in _ANNOTATIONS.items()],
    "labels": [(re.compile(k), re.compile(v)) for k, v in _LABELS.items()],
}


def find_unused_marks(obj: Object, was: Object | None, world: ObjectSurroundings) -> Iterator[Needless]:
    """Find new labels and annotations of an object and of its templates that nothing acts on."""
    for keys in METADATA:
        now, before = get_part(obj, keys), get_part(was, keys) if was else None
        if not isinstance(now, Mapping):
            continue
        yield from _find_unused_annotations(now, before, keys, world)
        yield from _find_unused_labels(now, before, keys, obj, world)


def _list_fresh(now: Mapping[str, Any], before: Any, field: str) -> Iterator[tuple[str, Any]]:
    old = (before.get(field) or {}) if isinstance(before, Mapping) else {}
    new = now.get(field) or {}
    if isinstance(new, Mapping):
        yield from ((key, value) for key, value in new.items() if old.get(key) != value and value is not None)


def _find_unused_annotations(
    now: Mapping[str, Any], before: Any, keys: Place, world: ObjectSurroundings
) -> Iterator[Needless]:
    for key, value in _list_fresh(now, before, "annotations"):
        if (key, str(value)) not in world.known.annotations and not _is_read("annotations", key, str(value)):
            yield Needless((*keys, "annotations", key), value, f"annotation '{key}': nothing acts on it")


def _find_unused_labels(
    now: Mapping[str, Any], before: Any, keys: Place, obj: Object, world: ObjectSurroundings
) -> Iterator[Needless]:
    old = (before.get("labels") or {}) if isinstance(before, Mapping) else {}
    for key, value in _list_fresh(now, before, "labels"):
        selected = world.selected.get(key, frozenset())
        moved = key in old and world.neutral(str(value))  # changing a selected label is the purpose of the change
        needed = str(value) in selected or "*" in selected or moved or value == obj["metadata"]["name"]
        needed = needed or (key, str(value)) in world.known.labels
        needed = needed or (_CONVENTION.fullmatch(key) is not None and world.neutral(str(value)))
        if not needed and not _is_read("labels", key, str(value)):
            yield Needless((*keys, "labels", key), value, f"label '{key}': no selector uses it")


def _is_read(field: str, key: str, value: str) -> bool:
    return any(name.fullmatch(key) and meant.fullmatch(value) for name, meant in _READ[field])
