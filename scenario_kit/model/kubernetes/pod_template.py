"""The pod template of an object that creates pods, and what is in it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from scenario_kit.model.base import Object
from scenario_kit.model.json_document import get_part
from scenario_kit.model.kubernetes.reference import WORKLOADS

#: Kinds of objects that are pods, or create them from a template.
POD_KINDS: Final = (*WORKLOADS, "CronJob", "Job", "Pod", "ReplicaSet", "ReplicationController")
_PLACE: Final = ("spec", "template")
#: Where the template is in kinds that have it elsewhere; a Pod is its own.
_PLACES: Final[Mapping[str, tuple[str, ...]]] = {"Pod": (), "CronJob": ("spec", "jobTemplate", *_PLACE)}


def locate_pod_spec(kind: str) -> tuple[str, ...]:
    """Return the place of the pod spec in an object that creates pods."""
    return (*_PLACES.get(kind, _PLACE), "spec")


def read_pod_template(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the pod template of an object; empty if it has none."""
    template = get_part(obj, _PLACES.get(obj.get("kind", ""), _PLACE))
    return template if isinstance(template, Mapping) else {}


def read_pod_spec(obj: Mapping[str, Any]) -> Object:
    """Return the pod spec of an object; empty if it has none."""
    spec = read_pod_template(obj).get("spec")
    return spec if isinstance(spec, dict) else {}


def list_containers(obj: Mapping[str, Any]) -> list[Object]:
    """List the containers of an object's pods, without init containers."""
    return read_pod_spec(obj).get("containers") or []


def read_template_labels(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the labels of an object's pod template; empty if it has none."""
    return (read_pod_template(obj).get("metadata") or {}).get("labels") or {}
