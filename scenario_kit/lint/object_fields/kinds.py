"""Find the type of an object, and say which version or kind is meant where there is none."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from scenario_kit.lint.object_fields.mistake import NO_VALUE, FieldMistake, shorten_names, suggest_name
from scenario_kit.model.chaos.kinds import GROUP as CHAOS_GROUP
from scenario_kit.model.chaos.kinds import SCHEDULE
from scenario_kit.schema.chaos import get_chaos_version
from scenario_kit.schema.object_types.chaos_mesh import find_chaos_type
from scenario_kit.schema.object_types.field_type import ObjectType
from scenario_kit.schema.object_types.kubernetes import (
    find_object_type,
    get_version,
    list_groups,
    list_kinds,
    list_versions,
)

#: API groups that Kubernetes had, and has no more.
_FORMER: Final = frozenset({"extensions", "settings.k8s.io", "auditregistration.k8s.io"})
#: Letters of a group for each one that may be wrong.
_SLIP: Final = 4


class KnownType(NamedTuple):
    """The type of an object, and the API server by which it is judged."""

    type: ObjectType
    server: str


def name_server() -> str:
    """Name the API server by which objects are judged, with its version."""
    return f"Kubernetes {get_version()}"


def find_type(obj: Any) -> KnownType | None:
    """Return the type of an object; None for custom resources, and where the version or the kind does not exist."""
    api_version, kind = str(obj.get("apiVersion", "")), str(obj.get("kind", ""))
    if api_version.partition("/")[0] == CHAOS_GROUP:
        spec = obj.get("spec")
        started = str(spec.get("type", "")) if kind == SCHEDULE and isinstance(spec, dict) else ""
        chaos = find_chaos_type(kind, started)
        return chaos and KnownType(chaos, f"Chaos Mesh {get_chaos_version()}")
    found = find_object_type(api_version, kind)
    return found and KnownType(found, name_server())


def find_kind_mistake(obj: Any) -> FieldMistake | None:
    """Return why the API server serves no objects of this version and kind; None if it does, or may.

    A group that is not of Kubernetes' own is one of custom resources, about which nothing is known here.
    """
    api_version, kind = obj.get("apiVersion"), obj.get("kind")
    if not isinstance(api_version, str) or not isinstance(kind, str):
        return None
    group = api_version.rpartition("/")[0]
    served = list_versions(kind)
    if api_version in served or not (_is_builtin(group) or _is_misspelled(group, served)):
        return None
    if served:
        return _report_version(api_version, kind, served)
    return _report_kind(api_version, kind)


def _is_builtin(group: str) -> bool:
    """Return whether a group belongs to Kubernetes: groups of custom resources are domains, with a dot."""
    return group in list_groups() or group in _FORMER or "." not in group


def _is_misspelled(group: str, served: tuple[str, ...]) -> bool:
    """Return whether a group is, but for a slip, one in which Kubernetes has the kind."""
    if not served:
        return False
    from rapidfuzz.distance import OSA  # imported late: only needed for custom resources with kinds of Kubernetes

    return any(OSA.distance(group, each.rpartition("/")[0]) <= max(2, len(group) // _SLIP) for each in served)


def _report_version(api_version: str, kind: str, served: tuple[str, ...]) -> FieldMistake:
    expected = " or ".join(served)
    group, _, _ = api_version.rpartition("/")
    same = [each for each in served if each.rpartition("/")[0] == group]
    message = f"{name_server()} serves no {kind} of `{api_version}`"
    fix = f"write `apiVersion: {served[0]}`, and the fields as that version has them"
    # Between versions of a group fields may differ, so only the group of the same version is corrected.
    number = api_version.rpartition("/")[2]
    only = [each for each in served if not same and each.rpartition("/")[2] == number]
    meant = only[0] if len(only) == 1 else NO_VALUE
    return FieldMistake(("apiVersion",), message, api_version, expected, fix, value=meant)


def _report_kind(api_version: str, kind: str) -> FieldMistake:
    nearby = list_kinds(api_version)
    question, only = suggest_name(kind, nearby or list_kinds())
    message = f"{name_server()} has no kind {kind}" + (f" in `{api_version}`" if nearby else "")
    expected = shorten_names(nearby) or "a kind of Kubernetes"
    meant = only if only and nearby else NO_VALUE
    return FieldMistake(("kind",), message, kind, expected, question or "write the kind that is meant", value=meant)
