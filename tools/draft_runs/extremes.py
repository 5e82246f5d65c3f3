"""Extreme parameter values of faults, at which a draft is most likely to fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.render.faults.applicability import offer
from tools.matrix.pairs import Pair, list_objects_for


def list_extremes(catalog: Catalog, pair: Pair) -> Iterator[str]:
    """Yield ``NAME=VALUE``, one parameter at a time, for values other than the draft's default.

    These are the bounds of numbers, and all other choices of an enumeration (``enum``, ``x-choices``, booleans).
    """
    app = catalog.app(pair.app, pair.version)
    fault_type = catalog.fault(pair.fault)
    try:
        drafted = offer(fault_type, app, list_objects_for(catalog, app, pair.fault), pair.target)
    except AuthoringError:  # the fault has no effect on this target
        return
    for name, schema in fault_type.parameters.get("properties", {}).items():
        for value in _list_bounds(schema, drafted.choices.get(name, [])):
            if value != drafted.parameters.get(name):
                yield f"{name}={value if isinstance(value, str) else json.dumps(value)}"


def _list_bounds(schema: dict[str, Any], choices: list[Any]) -> list[Any]:
    if choices:
        return choices
    if schema.get("type") == "boolean":
        return [False, True]
    return [schema[bound] for bound in ("minimum", "maximum") if bound in schema]
