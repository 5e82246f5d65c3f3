"""Condenses the definitions of the OpenAPI document: the fields of each type, in one word each.

The words are described in ``scenario_kit/schema/object_types/field_type.py``, which reads them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from scenario_kit.schema.source import Schema
from scenario_kit.schema.writable import WRITABLE
from tools.kubernetes_api.enums import Enums, read_enums

DOCUMENT: Final = Path("api/openapi-spec/swagger.json")
SOURCE: Final = Path("pkg/generated/openapi/zz_generated.openapi.go")

_KINDS: Final = "x-kubernetes-group-version-kind"
_OF_PATCH: Final = ("x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key")
#: Definitions whose type does not say what the API server takes.
_SPECIAL: Final[Mapping[str, str]] = {"Quantity": "quantity", "IntOrString": "intOrString"}
#: Fields that the document requires, and the API server does not: it has a default for them, or takes the zero value.
_OPTIONAL: Final = frozenset(
    {
        ("PriorityClass", "value"), ("EndpointSlice", "endpoints"), ("RoleRef", "apiGroup"), ("HTTPHeader", "value"),
        ("Sysctl", "value"), ("SleepAction", "seconds"), ("ISCSIVolumeSource", "lun"), ("LimitRangeSpec", "limits"),
        ("ISCSIPersistentVolumeSource", "lun"), ("PodFailurePolicyOnPodConditionsPattern", "status"),
        ("PodFailurePolicy", "rules"), ("SuccessPolicy", "rules"), ("QuobyteVolumeSource", "registry"),
    }
)  # fmt: skip
#: What only the API server and controllers write: nothing is required of it.
_STATUS: Final = ("Status", "Condition")


def condense_api(module: Path, version: str) -> str:
    """Return the text of ``kubernetes.json``: one line per kind and type, which keeps diffs between versions readable.

    Args:
        module: the source of k8s.io/kubernetes.
        version: its version.
    """
    document = json.loads((module / DOCUMENT).read_text(encoding="utf-8"))
    table = condense_definitions(document["definitions"], read_enums((module / SOURCE).read_text(encoding="utf-8")))
    parts = [f'"version": {_dump(version)}']
    for section in ("kinds", "objects", "types"):
        lines = [f"{_dump(name)}: {_dump(entry)}" for name, entry in sorted(table[section].items())]
        parts.append(f'"{section}": {{\n' + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _dump(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def condense_definitions(definitions: Mapping[str, Schema], enums: Enums) -> Schema:
    """Return the content of ``kubernetes.json``: all kinds with their versions, and the fields of writable ones."""
    writable = {(each.group, each.kind) for each in WRITABLE}
    kinds: dict[str, list[str]] = {}
    objects: dict[str, str] = {}
    for name, schema in definitions.items():
        served = [k for k in schema.get(_KINDS, ()) if _is_object(schema, k["kind"])]
        for group, version, kind in ((k["group"], k["version"], k["kind"]) for k in served):
            api_version = f"{group}/{version}" if group else version
            kinds.setdefault(kind, []).append(api_version)
            if (group, kind) in writable:
                objects[f"{api_version}/{kind}"] = name
    types = _condense_types(definitions, enums, objects.values())
    return {
        "kinds": {kind: sorted(versions, key=_rank_version) for kind, versions in kinds.items()},
        "objects": {key: _shorten_name(name) for key, name in objects.items()},
        "types": types,
    }


def _is_object(schema: Schema, kind: str) -> bool:
    return "apiVersion" in schema.get("properties", {}) and not kind.endswith(("List", "Options"))


def _rank_version(api_version: str) -> tuple[int, str, int]:
    """Rank stable versions first, and later ones before earlier ones."""
    group, _, version = api_version.rpartition("/")
    unstable = ("beta" in version) + 2 * ("alpha" in version)
    digits = "".join(c if c.isdigit() else " " for c in version).split()
    return unstable, group, -int("".join(d.zfill(3) for d in digits))


def _condense_types(definitions: Mapping[str, Schema], enums: Enums, roots: Iterable[str]) -> dict[str, Schema]:
    found: dict[str, tuple[str, Schema]] = {}
    missing = list(roots)
    while missing:
        name = missing.pop()
        short, schema = _shorten_name(name), definitions[name]
        if short in found:
            if found[short][0] != name:
                raise ValueError(f"{name} and {found[short][0]} have the same short name")
            continue
        fields: Schema = {}
        for field, part in schema["properties"].items():
            star = "*" if field in schema.get("required", ()) and _is_required(name, field) else ""
            fields[field + star] = _condense(part, definitions, enums.get((name, field), ()), missing)
        found[short] = name, fields
    return {short: fields for short, (_, fields) in found.items()}


def _is_required(name: str, field: str) -> bool:
    kind = name.rpartition(".")[2]
    return (kind, field) not in _OPTIONAL and not kind.endswith(_STATUS)


def _condense(schema: Schema, definitions: Mapping[str, Schema], enum: tuple[str, ...], missing: list[str]) -> str:
    """Return the word of a field's type; types that it refers to are added to ``missing``."""
    if reference := schema.get("$ref"):
        name = str(reference).rpartition("/")[2]
        target = definitions[name]
        if special := _SPECIAL.get(name.rpartition(".")[2]):
            return special
        if "properties" in target:
            missing.append(name)
            return f"@{_shorten_name(name)}"
        return _condense({k: v for k, v in target.items() if k != "description"}, definitions, (), missing)
    kind = schema.get("type")
    if kind == "array":
        strategy, key = (str(schema.get(each, "")) for each in _OF_PATCH)
        merged = (key or "=") if "merge" in strategy.split(",") else ""
        return f"[{merged}]{_condense(schema['items'], definitions, enum, missing)}"
    if kind == "object" and "additionalProperties" in schema:
        return "{}" + _condense(schema["additionalProperties"], definitions, (), missing)
    if enum:
        return "=" + "|".join(enum)
    if schema.get("format") == "byte":
        return "base64"
    return "any" if kind in (None, "object") else str(kind)


def _shorten_name(name: str) -> str:
    """Return the group, version and name of a definition: ``core.v1.Pod``."""
    return ".".join(name.split(".")[-3:])
