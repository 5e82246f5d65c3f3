"""Edits that correct a validation error, if there is only one plausible correction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from scenario_kit.load.schema.units import convert_to_unit
from scenario_kit.load.yaml.edit import Edit, Put, Rename
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.reference import SHORT_KINDS, WORKLOADS
from scenario_kit.model.spelling import find_only

#: Short and plural names of kinds, as in kubectl.
_KINDS: Final = {
    **{short: kind for kind, short in SHORT_KINDS.items()},
    **{kind.lower(): kind for kind in (*WORKLOADS, "Service", "ConfigMap", "Secret", "Pod", "Ingress")},
    **{kind.lower(): kind for kind in ("Job", "CronJob", "Node")},
    "deployments": "Deployment", "services": "Service", "no": "Node", "quota": "ResourceQuota",
}  # fmt: skip
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


def fix_field_name(place: Place, name: str, known: Iterable[str], fields: Mapping[str, Any]) -> tuple[Edit, ...]:
    """Rename a misspelled field to the only close name that is not taken."""
    close = find_only(name, known)
    return (Rename((*place, name), close),) if close and close not in fields else ()


def fix_missing(place: Place, name: str, schema: Mapping[str, Any]) -> tuple[Edit, ...]:
    """Add a missing field that can have only one value."""
    part = schema.get("properties", {}).get(name, {})
    values = part.get("enum", ())
    return (Put((*place, name), values[0]),) if len(values) == 1 else ()


def fix_value(place: Place, rule: str, desired: Any, got: Any, raw: str | None) -> tuple[Edit, ...]:
    """Convert a value of a wrong type or spelling. ``raw`` is the file's spelling of a number or a boolean."""
    value: Any = None
    if rule == "type":
        value = _convert_type(place, str(desired), got, raw)
    elif rule == "enum":
        choices = [choice for choice in desired if choice not in ("", None)]
        value = choices[0] if len(choices) == 1 else find_only(str(got), [str(choice) for choice in choices])
    elif rule == "pattern" and isinstance(got, str):
        value = (
            normalize_reference(got)
            if "[A-Z]" in desired
            else convert_to_kebab(got)
            if desired.startswith("^[a-z0-9]([-a-z0-9]*")
            else None
        )
    return (Put(place, value),) if value is not None and value != got else ()


def _convert_type(place: Place, desired: str, got: Any, raw: str | None) -> Any:
    if desired == "integer":
        return convert_to_unit(str(place[-1]), got)
    if desired == "string" and raw:
        return raw
    if desired == "boolean" and isinstance(got, str):
        return {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}.get(got.lower())
    return [got] if desired == "array" and isinstance(got, str | dict) else None


def convert_to_kebab(text: str) -> str | None:
    """Convert a text to kebab case; None if nothing is left."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", text)
    name = re.sub(r"[^a-z0-9]+", "-", spaced.lower()).strip("-")
    return name if _NAME.fullmatch(name) else None


def normalize_reference(text: str) -> str | None:
    """Return a reference with the full name of its kind: ``deploy/cart`` becomes ``Deployment/cart``."""
    kind, slash, name = text.rpartition("/")
    namespace, inner, kind = kind.rpartition("/")
    full = _KINDS.get(kind.lower())
    return f"{namespace}{inner}{full}{slash}{name}" if full and name else None
