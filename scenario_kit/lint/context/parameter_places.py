"""Find the parameter of a fault from which a value comes."""

from __future__ import annotations

from collections.abc import Mapping

from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.model.json_document import Place, walk


def find_parameter_place(of_use: Place, use: FaultUse, text: str) -> Place:
    """Return the place of the parameter in which a text stands, as a value or a key, or else of the fault."""
    root: Place = (*of_use, "parameters")
    for where, value in walk(use.parameters, root):
        if isinstance(value, Mapping) and where != root and text in value:
            return (*where, text)
        if not isinstance(value, Mapping | list | tuple) and str(value) == text:
            return where
    return of_use
