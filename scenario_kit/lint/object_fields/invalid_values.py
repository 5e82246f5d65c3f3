"""Judge the values of a whole object, as the API server does once their types are right.

Only what the validation of Kubernetes surely refuses is reported. Sources: ``pkg/apis/*/validation``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from scenario_kit.lint.object_fields.mistake import FieldMistake
from scenario_kit.lint.object_fields.pod_values import find_wrong_pod_values
from scenario_kit.lint.object_fields.value_syntax import (
    HIGHEST_PORT,
    LABEL_KEY,
    find_wrong_labels,
    is_file_key,
    is_label_key,
    is_port,
    report,
)
from scenario_kit.lint.simulation.stages import list_pod_specs
from scenario_kit.model import Object
from scenario_kit.model.json_document import Place, get_part, list_mappings, walk
from scenario_kit.model.kubernetes.pod_template import POD_KINDS
from scenario_kit.model.kubernetes.quantity import parse_exact
from scenario_kit.model.kubernetes.reference import WORKLOADS

_SELECTING: Final = (*WORKLOADS, "ReplicaSet")
#: What a quota counts (IsStandardQuotaResourceName), and of it what comes in whole numbers.
_COUNTED: Final = frozenset({
    "configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas", "secrets", "services",
    "services.loadbalancers", "services.nodeports",
})  # fmt: skip
_QUOTAS: Final = _COUNTED | {
    "cpu", "ephemeral-storage", "limits.cpu", "limits.ephemeral-storage", "limits.memory", "memory", "requests.cpu",
    "requests.ephemeral-storage", "requests.memory", "requests.storage",
}  # fmt: skip
_HUGE_PAGES: Final = ("hugepages-", "requests.hugepages-")
_PERCENTAGE: Final = re.compile(r"[0-9]+%")


def find_invalid_values(obj: Object, is_open: Callable[[Any], bool] = lambda _: False) -> Iterator[FieldMistake]:
    """Yield the values that the API server refuses in an object whose fields have the right types.

    ``is_open`` tells texts that will be replaced, about which nothing is known.
    """
    for mistake in _find_all(obj):
        if not is_open(get_part(obj, mistake.place)):
            yield mistake


def _find_all(obj: Object) -> Iterator[FieldMistake]:
    for place, part in walk(obj):
        if not isinstance(part, Mapping):
            continue
        if "matchLabels" in part:
            yield from find_wrong_labels(part["matchLabels"], (*place, "matchLabels"))
        if place[-1:] == ("metadata",):
            yield from find_wrong_labels(part.get("labels"), (*place, "labels"))
            yield from _find_wrong_annotations(part.get("annotations"), (*place, "annotations"))
    kind, spec = obj.get("kind"), obj.get("spec")
    if kind in ("ConfigMap", "Secret"):
        yield from _find_wrong_keys(obj)
    if not isinstance(spec, Mapping):
        return
    if isinstance(replicas := spec.get("replicas"), int) and replicas < 0:
        yield report(("spec", "replicas"), f"is {replicas}, less than 0", replicas, "0 or more")
    if kind in POD_KINDS:
        claims = [str(get_part(c, ("metadata", "name"))) for _, c in list_mappings(spec.get("volumeClaimTemplates"))]
        for place, pod in list_pod_specs(obj):
            yield from find_wrong_pod_values(pod, claims, place)
    if kind in _SELECTING:
        yield from _find_unselected(spec)
    judge = _JUDGES.get(str(kind))
    if judge is not None:
        yield from judge(spec)


def _find_wrong_annotations(annotations: Any, place: Place) -> Iterator[FieldMistake]:
    for key in annotations if isinstance(annotations, Mapping) else ():
        if not is_label_key(str(key).lower()):
            yield report(place, f"has '{key}', which is no key of an annotation", key, LABEL_KEY)


def _find_wrong_keys(obj: Object) -> Iterator[FieldMistake]:
    for field in ("data", "binaryData", "stringData"):
        for key in obj.get(field) or ():
            if not is_file_key(key):
                expected = "at most 253 letters, digits, '-', '_' and '.'"
                yield report((field,), f"has '{key}', which cannot be a key", key, expected)


def _find_unselected(spec: Mapping[str, Any]) -> Iterator[FieldMistake]:
    """Report a template without the labels by which its workload finds its pods."""
    selected = get_part(spec, ("selector", "matchLabels"))
    labels = get_part(spec, ("template", "metadata", "labels"))
    known = labels if isinstance(labels, Mapping) else {}
    for key, value in selected.items() if isinstance(selected, Mapping) else ():
        if known.get(key) != value:
            place = ("spec", "template", "metadata", "labels")
            must = f"lacks {key}: {value}, by which the selector finds the pods"
            yield report(place, must, f"{key}: {known.get(key, 'none')}", f"{key}: {value}")


def _judge_deployment(spec: Mapping[str, Any]) -> Iterator[FieldMistake]:
    strategy = spec.get("strategy")
    if not isinstance(strategy, Mapping):
        return
    place: Place = ("spec", "strategy", "rollingUpdate")
    rolling = strategy.get("rollingUpdate")
    if strategy.get("type") == "Recreate" and rolling is not None:
        fix = "set it to null in the same patch"
        yield report(place, "has no meaning for the strategy Recreate", "set", "null", fix)
    for field in ("maxSurge", "maxUnavailable"):
        value = rolling.get(field) if isinstance(rolling, Mapping) else None
        if isinstance(value, str) and _PERCENTAGE.fullmatch(value) is None:
            yield report(
                (*place, field), f"is '{value}', which is no share", value, "an integer, or a share such as 25%"
            )
    if isinstance(rolling, Mapping) and all(_is_none(rolling.get(field)) for field in ("maxSurge", "maxUnavailable")):
        must = "allows neither a pod more nor a pod less, so nothing can be replaced"
        yield report(place, must, "both are 0", "one of them above 0")


def _is_none(value: Any) -> bool:
    return value in (0, "0%")


def _judge_service(spec: Mapping[str, Any]) -> Iterator[FieldMistake]:
    yield from find_wrong_labels(spec.get("selector"), ("spec", "selector"))
    expected = f"a port from 1 to {HIGHEST_PORT}"
    entries = list(list_mappings(spec.get("ports")))
    names = [entry.get("name") for _, entry in entries]
    for i, entry in entries:
        place: Place = ("spec", "ports", i)
        if len(entries) > 1 and not entry.get("name"):
            yield report(place, "lacks a name, which each of several ports needs", "no name", "`name`", "add `name`")
        elif names.index(entry.get("name")) != i:
            must = f"is '{entry['name']}', as that of another port is"
            yield report((*place, "name"), must, entry["name"], "another name for each port")
        if "port" in entry and not is_port(entry["port"], named=False):
            yield report((*place, "port"), f"is {entry['port']}, which is no port", entry["port"], expected)
        target = entry.get("targetPort")
        if target not in (None, 0, "") and not is_port(target):
            must = f"is {target}, which is no port"
            yield report((*place, "targetPort"), must, target, f"{expected}, or the name of one")


def _judge_quota(spec: Mapping[str, Any]) -> Iterator[FieldMistake]:
    hard = spec.get("hard")
    for name, quantity in hard.items() if isinstance(hard, Mapping) else ():
        place = ("spec", "hard", name)
        if not is_label_key(name) or ("/" not in name and name not in _QUOTAS and not name.startswith(_HUGE_PAGES)):
            expected = "a resource such as pods, requests.memory, limits.cpu or count/jobs.batch"
            yield report(("spec", "hard"), f"has '{name}', which no quota counts", name, expected)
            continue
        try:
            amount = parse_exact(quantity)
        except (ValueError, ArithmeticError):
            continue  # the judgement of types reports it
        if amount < 0:
            yield report(place, f"is {quantity}, less than 0", quantity, "0 or more")
        elif amount % 1 and (name in _COUNTED or name.startswith("count/")):
            yield report(place, f"is {quantity}, but what it counts comes in whole numbers", quantity, "an integer")


_JUDGES: Final[Mapping[str, Callable[[Mapping[str, Any]], Iterator[FieldMistake]]]] = {
    "Deployment": _judge_deployment,
    "ResourceQuota": _judge_quota,
    "Service": _judge_service,
}
