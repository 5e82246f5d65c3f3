"""Feature flags of a rendered app."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scenario_kit.model import App, Object, Reference
from scenario_kit.model.runtime.flag import read_flags
from scenario_kit.render.objects.lookup import look_up


def describe_flags(app: App, objects: Sequence[Object], namespace: str) -> dict[str, Any] | None:
    """Describe the app's flag store for templates; None if it has none.

    ``known`` maps each flag to its ``variants``, its ``present`` variant, whether a targeting rule overrides that
    (``targeted``), and ``trait``, its declared effect or None. Flags with a trait come first.
    """
    store = app.flags
    if store is None:
        return None
    found = look_up(objects, Reference("ConfigMap", store.config_map), namespace)
    written = read_flags(found, store.key) if found is not None else {}
    order = [*(f for f in store.effects if f in written), *(f for f in written if f not in store.effects)]
    known = {
        name: {
            "variants": list(written[name].get("variants") or {}),
            "present": written[name].get("defaultVariant", ""),
            "targeted": bool(written[name].get("targeting")),
            "trait": _describe_trait(store.effects[name].to_json()) if name in store.effects else None,
        }
        for name in order
    }
    return {"configMap": store.config_map, "key": store.key, "restart": list(store.restart), "known": known}


def _describe_trait(document: Object) -> Object:
    """Fill in all fields, so that templates can read each."""
    whole = {"shows": document["component"], "weak": [], "load": "", "prepare": {}, "because": "", **document}
    return {**whole, "shows": whole["shows"] or document["component"]}
