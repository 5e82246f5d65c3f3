"""Custom resource definitions, generated from the schemas (structural, with list types and CEL rules)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scenario_kit.schema.api_group import GROUP, VERSION
from scenario_kit.schema.field_renames import FIX_RENAMED, explain_renaming
from scenario_kit.schema.source import FORMER_NAMES, Schema, expand, load_definitions

CATEGORY = "scenario-kit"


class CrdVersion(NamedTuple):
    """A version under which objects are served. Exactly one of a kind is the one that is stored."""

    name: str
    stored: bool = True


#: The versions of every kind. They differ in nothing but their name (docs/crd-versions.md).
VERSIONS: tuple[CrdVersion, ...] = (CrdVersion(VERSION),)

#: The kinds that the operator serves.
SERVED = ("Scenario", "Trial", "Validation")
#: A printer column: name, JSONPath, and priority (0 is always shown).
Column = tuple[str, str, int]
#: Short name and printer columns of each kind.
KINDS: dict[str, tuple[str, tuple[Column, ...]]] = {
    "Scenario": (
        "scn",
        (
            ("App", ".spec.app.name", 0),
            ("Ready", '.status.conditions[?(@.type=="Ready")].status', 0),
            ("Symptoms", '.status.conditions[?(@.type=="SymptomsPresent")].status', 0),
            ("Resolved", '.status.conditions[?(@.type=="Resolved")].status', 0),
            ("Reason", '.status.conditions[?(@.type=="Ready")].reason', 0),
            ("Namespace", ".status.namespace", 1),
            ("Trial", ".status.trial", 1),
            ("Message", '.status.conditions[?(@.type=="Ready")].message', 1),
        ),
    ),
    "Trial": (
        "trl",
        (
            ("Scenario", ".spec.scenario", 0),
            ("Plan", ".spec.plan", 0),
            ("Step", ".status.current", 0),
            ("Outcome", ".status.outcome", 0),
            ("Reason", '.status.conditions[?(@.type=="Succeeded")].reason', 0),
            ("Namespace", ".status.namespace", 1),
            ("Clock", ".spec.clock", 1),
        ),
    ),
    "Validation": (
        "vld",
        (
            ("Scenario", ".status.scenario", 0),
            ("Planned", ".status.planned", 0),
            ("Running", ".status.running", 0),
            ("Held", ".status.held", 0),
            ("Broken", ".status.broken", 0),
            ("Infra", ".status.infra", 0),
            ("Verdict", ".status.verdict", 0),
            ("Reason", '.status.conditions[?(@.type=="Ready")].reason', 0),
            ("Report", ".status.report", 1),
            ("Headline", ".status.headline", 1),
        ),
    ),
}

_COPIED = (
    "type", "format", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems",
    "required", "oneOf", "x-kubernetes-validations", "x-kubernetes-list-type", "x-kubernetes-list-map-keys",
)  # fmt: skip
_INTEGER_COLUMNS = tuple(f".status.{name}" for name in ("current", "planned", "running", "held", "broken", "infra"))


def make_structural(schema: Schema) -> Schema:
    """Convert an expanded schema to a structural one: open objects are marked, defaults become descriptions.

    The server does not apply defaults, so that stored objects stay as written.
    """
    result: Schema = {}
    if "description" in schema:
        result["description"] = _describe_format(schema)
    result.update({key: schema[key] for key in _COPIED if key in schema})
    if "properties" in schema:
        result["properties"] = {name: make_structural(part) for name, part in schema["properties"].items()}
        if FORMER_NAMES in schema:
            _refuse_former_names(result, schema[FORMER_NAMES])
    elif isinstance(schema.get("additionalProperties"), dict):
        result["additionalProperties"] = make_structural(schema["additionalProperties"])
    elif schema.get("type", "object") == "object":
        result["x-kubernetes-preserve-unknown-fields"] = True
    if "items" in schema:
        result["items"] = make_structural(schema["items"])
        result.setdefault("x-kubernetes-list-type", "atomic")
    return result


def _refuse_former_names(schema: Schema, former: Mapping[str, str]) -> None:
    """Keep former field names, so that the server rejects them with a message instead of pruning them."""
    for old, new in former.items():
        message = f"{explain_renaming(old, new)}; {FIX_RENAMED}"
        schema["properties"][old] = {
            "type": "string",
            "description": f"The former name of `{new}`; it is refused.",
            "x-kubernetes-validations": [{"rule": "false", "message": message}],
        }
    for new in dict.fromkeys(former.values()):
        if new in schema.get("required", ()):  # if it were required, the rules above would not be evaluated
            schema["required"] = [name for name in schema["required"] if name != new]
            old_names = [old for old, name in former.items() if name == new]
            schema["oneOf"] = [{"required": [name]} for name in (new, *old_names)]


def _describe_format(schema: Schema) -> str:
    default = schema.get("default")
    text: str = schema["description"]
    if default in (None, []):
        return text
    shown = (
        ", ".join(default)
        if isinstance(default, list)
        else str(default).lower()
        if isinstance(default, bool)
        else default
    )
    return f"{text.rstrip('.')}. Defaults to {shown}."


def build_crd(kind: str, versions: Sequence[CrdVersion] = VERSIONS) -> dict[str, Any]:
    """Build the CustomResourceDefinition of a kind.

    Every version has the same schema, so that the API server converts by exchanging ``apiVersion`` alone.

    Raises:
        ValueError: not exactly one version is stored.
    """
    if sum(version.stored for version in versions) != 1:
        raise ValueError(f"exactly one version is stored; observed {[v.name for v in versions if v.stored]}")
    short, columns = KINDS[kind]
    schema = _build_object_schema(kind)
    names = {
        "kind": kind,
        "listKind": f"{kind}List",
        "plural": f"{kind.lower()}s",
        "singular": kind.lower(),
        "shortNames": [short],
        "categories": [CATEGORY],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{names['plural']}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": names,
            "scope": "Namespaced",
            "versions": [_build_version(version, schema, columns) for version in versions],
        },
    }


def _build_object_schema(kind: str) -> Schema:
    schema: Schema = {
        "type": "object",
        "description": load_definitions()[f"{kind}Spec"]["description"],
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": make_structural(expand({"$ref": f"{kind}Spec"})),
            "status": make_structural(expand({"$ref": f"{kind}Status"})),
        },
    }
    if kind in ("Scenario", "Validation"):
        schema["x-kubernetes-validations"] = [
            {
                "rule": "size(self.metadata.name) <= 52",
                "message": "`metadata.name` must have at most 52 characters: other names and labels are made from it",
            }
        ]
    return schema


def _build_version(version: CrdVersion, schema: Schema, columns: Sequence[Column]) -> dict[str, Any]:
    age = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
    return {
        "name": version.name,
        "served": True,
        "storage": version.stored,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
        "additionalPrinterColumns": [*(_build_column(column) for column in columns), age],
    }


def _build_column(given: Column) -> dict[str, Any]:
    name, path, priority = given
    column = {"name": name, "type": "integer" if path in _INTEGER_COLUMNS else "string", "jsonPath": path}
    return {**column, "priority": priority} if priority else column
