"""Measure by how much a repair only raises a capacity (memory, replicas, pool size). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from scenario_kit.judge.repair.collateral_changes import Name, Write
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.difference import find_paths, get_at
from scenario_kit.model.kubernetes.quantity import parse_quantity

#: Fields whose numbers are not capacities.
_NAMES: Final = ("ports", "port", "targetPort", "nodePort", "metadata")


def measure_capacity_factor(before: Iterable[Object], writes: Iterable[Write]) -> float:
    """Return the greatest factor by which a repair raised a number above its healthy value; at least 1.

    Args:
        before: the app's rendered objects.
        writes: the repair's writes.
    """
    healthy: Mapping[Name, Object] = {(o["kind"], o["metadata"]["name"]): o for o in before}
    factor = 1.0
    for was, now in writes:
        if was is None or now is None:
            continue
        rendered = healthy.get((now["kind"], now["metadata"]["name"]), {})
        for path in find_paths(was, now):
            if any(part in _NAMES for part in path):
                continue
            known = [
                n for value in (get_at(was, path), get_at(rendered, path)) if (n := _parse_number(value)) is not None
            ]
            new = _parse_number(get_at(now, path))
            if known and new is not None and max(known) > 0:
                factor = max(factor, new / max(known))
    return factor


def _parse_number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return parse_quantity(value)
    except ValueError:
        return None
