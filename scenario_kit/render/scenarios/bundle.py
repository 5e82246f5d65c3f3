"""A scenario and the fault types that it uses as one object: the same incident, whatever a cluster's catalogue has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scenario_kit.catalog import Catalog
from scenario_kit.load import load_scenario
from scenario_kit.load.yaml.document import read_document
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE

#: What follows the faults in an object that is bundled.
_BEFORE = "faults"


def bundle_scenario(file: Path, catalog: Catalog) -> Object:
    """Build the object of a scenario's file, with every fault type that it uses inside.

    Raises:
        AuthoringError: the file is invalid, or there is no such fault type.
    """
    scenario = load_scenario(file).scenario
    held = {each["name"] for each in scenario.spec.fault_types}
    used = dict.fromkeys(use.type for use in scenario.spec.faults if use.type not in held)
    definitions = [read_document(catalog.fault_path(name, file)).data for name in used if catalog.fault(name, file)]
    return build_bundle(read_document(file).data, definitions, MANAGEMENT_NAMESPACE)


def build_bundle(document: Object, definitions: Sequence[Object], namespace: str) -> Object:
    """Build the object of a scenario with fault types inside, to be applied in ``namespace``.

    Args:
        document: the scenario, as its file says it.
        definitions: what the files of the fault types say; types that the document holds already stay.
        namespace: where the object belongs.
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
