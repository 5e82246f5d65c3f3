"""A scenario and its own fault types as one object, for clusters whose catalogue does not have them."""

from __future__ import annotations

from collections.abc import Sequence

from scenario_kit.model import Object

#: What follows the faults in an object that is bundled.
_BEFORE = "faults"


def build_bundle(document: Object, definitions: Sequence[Object], namespace: str) -> Object:
    """Build the object of a scenario with fault types inside, to be applied in ``namespace``.

    Args:
        document: the scenario, as its file says it.
        definitions: what the files of the fault types say; types that the document holds already stay.
    """
    spec: Object = document["spec"]
    held = list(spec.get("faultTypes") or ())
    types = [*held, *(each for each in definitions if each["name"] not in {one["name"] for one in held})]
    bundled: Object = {}
    for name, value in spec.items():
        if name != "faultTypes":
            bundled[name] = value
        if name == _BEFORE and types:
            bundled["faultTypes"] = types
    return {**document, "metadata": {**document["metadata"], "namespace": namespace}, "spec": bundled}
