"""Judge which fields of an object may not change once it exists.

Only what the API server surely refuses is reported. Sources: ``Validate…Update`` in ``pkg/apis/*/validation``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from scenario_kit.lint.object_fields.mistake import FieldMistake
from scenario_kit.lint.object_fields.value_syntax import report
from scenario_kit.model import Object
from scenario_kit.model.json_document import Place, get_part
from scenario_kit.model.kubernetes.reference import WORKLOADS

#: What a StatefulSet may change of its spec.
_OF_STATEFUL_SETS: Final = frozenset({
    "minReadySeconds", "ordinals", "persistentVolumeClaimRetentionPolicy", "replicas", "revisionHistoryLimit",
    "template", "updateStrategy",
})  # fmt: skip
#: Fields that stay as they were written, by kind. Those of claims and volumes may be set where they were not.
_KEPT: Final[Mapping[str, tuple[Place, ...]]] = {
    **dict.fromkeys((*WORKLOADS, "ReplicaSet"), (("spec", "selector"),)),
    "Secret": (("type",),),
    "RoleBinding": (("roleRef",),),
    "ClusterRoleBinding": (("roleRef",),),
    "PriorityClass": (("value",), ("preemptionPolicy",)),
    "StorageClass": (("provisioner",), ("parameters",), ("reclaimPolicy",), ("volumeBindingMode",)),
    "IngressClass": (("spec", "controller"),),
    "PersistentVolumeClaim": tuple(
        ("spec", field) for field in ("accessModes", "selector", "storageClassName", "volumeMode", "volumeName")
    ),
    "PersistentVolume": (("spec", "volumeMode"), ("spec", "nodeAffinity")),
}
_MAY_BE_SET: Final = ("PersistentVolumeClaim", "PersistentVolume")
#: Where these are left out, the API server writes a value, which may be named as well.
_DEFAULTS: Final[Mapping[Place, Any]] = {
    ("type",): "Opaque",
    ("preemptionPolicy",): "PreemptLowerPriority",
    ("reclaimPolicy",): "Delete",
    ("volumeBindingMode",): "Immediate",
}
#: The type of a Service that is a name outside of the cluster.
_OUTSIDE: Final = "ExternalName"
_AT_CREATION: Final = "leave it as it is: it can only be set when the object is created"


def find_forbidden_updates(old: Object, new: Object) -> Iterator[FieldMistake]:
    """Yield the fields of an object that may not change once it exists, and that differ."""
    kind = str(old.get("kind"))
    for place in _KEPT.get(kind, ()):
        default = _DEFAULTS.get(place)
        before, after = (get_part(each, place) or default for each in (old, new))
        if before != after and not (before is None and kind in _MAY_BE_SET):
            yield _report(place)
    judge = _JUDGES.get(kind)
    if judge is not None:
        yield from judge(old, new)


def _judge_stateful_set(old: Object, new: Object) -> Iterator[FieldMistake]:
    before, after = old.get("spec"), new.get("spec")
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in sorted({*before, *after} - _OF_STATEFUL_SETS - {"selector"}):
            if before.get(name) != after.get(name):
                yield _report(("spec", name))


def _judge_job(old: Object, new: Object) -> Iterator[FieldMistake]:
    """Report changes of a Job; one that is suspended may still change where its pods can run."""
    before, after = old.get("spec"), new.get("spec")
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return
    names = ["selector", "completionMode", "podFailurePolicy", "successPolicy", "backoffLimitPerIndex"]
    if before.get("completionMode") != "Indexed":
        names.append("completions")
    if not before.get("suspend"):
        names.append("template")
    for name in names:
        if before.get(name) != after.get(name):
            yield _report(("spec", name))


def _judge_service(old: Object, new: Object) -> Iterator[FieldMistake]:
    """Report another address of a Service; one that is left out stays, and names outside of the cluster have none."""
    before, after = old.get("spec"), new.get("spec")
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return
    if _OUTSIDE in (before.get("type"), after.get("type")):
        return
    if after.get("clusterIP") and before.get("clusterIP") != after.get("clusterIP"):
        yield _report(("spec", "clusterIP"))


def _judge_data(old: Object, new: Object) -> Iterator[FieldMistake]:
    """Report changes of a ConfigMap or Secret that is immutable."""
    for field in ("immutable", "data", "binaryData") if old.get("immutable") is True else ():
        if (old.get(field) or {}) != (new.get(field) or {}):
            fix = "leave it as it is, or delete the object and create another one in its place"
            expected = "the former value, as `immutable` is true"
            yield report((field,), "cannot be changed", "another value", expected, fix)


def _report(place: Place) -> FieldMistake:
    return report(place, "cannot be changed", "another value", "the former value", _AT_CREATION)


_JUDGES: Final[Mapping[str, Callable[[Object, Object], Iterator[FieldMistake]]]] = {
    "StatefulSet": _judge_stateful_set,
    "Job": _judge_job,
    "Service": _judge_service,
    "ConfigMap": _judge_data,
    "Secret": _judge_data,
}
