"""Read and edit flagd documents."""

from __future__ import annotations

import json
from typing import Any

from scenario_kit.model.base import Object


def read_flags(config_map: Object, key: str) -> dict[str, Any]:
    """Read the flags of the flagd document in a ConfigMap; empty if it has no such key.

    Raises:
        ValueError: the document is not JSON.
    """
    found: dict[str, Any] = json.loads((config_map.get("data") or {}).get(key) or "{}").get("flags") or {}
    return found


def set_variant(flag: Object, variant: str, value: float | None = None) -> Object:
    """Set the variant of a flag, adding it with ``value`` if it does not exist.

    A rule (``targeting: {if: [condition, variant, otherwise]}``) overrides ``defaultVariant``; then the variant is set
    for the rule's first condition.

    Raises:
        ValueError: the rule has another form, or the variant exists with another value.
    """
    if value is not None:
        number = int(value) if float(value).is_integer() else value
        known = {variant: number, **(flag.get("variants") or {})}
        if known[variant] != number:
            raise ValueError(f"its variant '{variant}' is {known[variant]}, not {number}")
        flag = {**flag, "variants": known}
    rule: Any = flag.get("targeting")
    if not rule:
        return {**flag, "defaultVariant": variant}
    branches = rule.get("if") if isinstance(rule, dict) else None
    if not isinstance(branches, list) or len(branches) < 2:
        raise ValueError("its rule is not of the form {if: [condition, variant, otherwise]}")
    return {**flag, "targeting": {**rule, "if": [branches[0], variant, *branches[2:]]}}
