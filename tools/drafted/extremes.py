"""The values of a fault's parameters at which it is most likely to miss: their bounds, and every other choice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.render.faults.applicability import offer
from tools.matrix.pairs import Pair, objects_for


def extremes(catalog: Catalog, pair: Pair) -> Iterator[str]:
    """Answers ``NAME=VALUE``, one parameter at a time, each other than what the draft has by itself.

    Bounds of numbers, and of a list of choices (``enum``, ``x-choices``, both values of a switch) all others.
    """
    app = catalog.app(pair.app, pair.version)
    fault_type = catalog.fault(pair.fault)
    try:
        drafted = offer(fault_type, app, objects_for(catalog, app, pair.fault), pair.target)
    except AuthoringError:  # it does not bite there as it is
        return
    for name, schema in fault_type.parameters.get("properties", {}).items():
        for value in _bounds(schema, drafted.choices.get(name, [])):
            if value != drafted.parameters.get(name):
                yield f"{name}={value if isinstance(value, str) else json.dumps(value)}"


def _bounds(schema: dict[str, Any], choices: list[Any]) -> list[Any]:
    if choices:
        return choices
    if schema.get("type") == "boolean":
        return [False, True]
    return [schema[bound] for bound in ("minimum", "maximum") if bound in schema]
