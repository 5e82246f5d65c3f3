"""Labels of the pods of a workload: those of its template, and those that a StatefulSet's controller adds. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.pod_template import read_template_labels

_POD_NAME: Final = "statefulset.kubernetes.io/pod-name"
_POD_INDEX: Final = "apps.kubernetes.io/pod-index"


def list_ordinals(stateful_set: Object) -> range:
    """List the ordinals of the pods of a StatefulSet."""
    spec = stateful_set.get("spec") or {}
    start, replicas = (spec.get("ordinals") or {}).get("start") or 0, spec.get("replicas")
    return range(start, start + (1 if replicas is None else int(replicas)))


def add_ordinal_labels(labels: Mapping[str, Any], name: str, ordinal: int) -> dict[str, Any]:
    """Return the labels of one pod of a StatefulSet."""
    return {**labels, _POD_NAME: f"{name}-{ordinal}", _POD_INDEX: str(ordinal)}


def list_pod_labels(workload: Object) -> list[Mapping[str, Any]]:
    """List the labels of a workload's pods, each set once; those of one without replicas are those of its next pods."""
    labels = read_template_labels(workload)
    if workload["kind"] != "StatefulSet":
        return [labels]
    name = workload["metadata"]["name"]
    return [add_ordinal_labels(labels, name, each) for each in list_ordinals(workload)] or [
        add_ordinal_labels(labels, name, list_ordinals(workload).start)
    ]


def selects_pods(selector: Mapping[str, Any], workload: Object) -> bool:
    """Return whether a selector, such as a Service's, selects pods of a workload; an empty one selects all."""
    return any(selector.items() <= labels.items() for labels in list_pod_labels(workload))
