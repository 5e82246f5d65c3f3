"""Find capabilities in an app's options that the catalogue does not have: no trial could ever meet them."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.catalog.capabilities import list_capabilities
from scenario_kit.lint.context.catalog_context import AppCase
from scenario_kit.lint.framework.rule import Problem
from scenario_kit.model.json_document import Place, get_part
from scenario_kit.model.spelling import did_you_mean


def find_unknown_capabilities(case: AppCase) -> Iterator[Problem]:
    """Find unknown capabilities in ``x-requires``, in the common options and in those of each version."""
    known = [capability.name for capability in list_capabilities(case.catalog)]
    prefixes = tuple(name for name in known if name.endswith((":", ">=")))  # of capabilities with an argument
    places: list[Place] = [("options",), *(("versions", version, "options") for version in case.document["versions"])]
    for place in places:
        if not known:  # a collection alone, without the kit's catalogue
            return
        properties = (get_part(case.document, place) or {}).get("properties") or {}
        for option, part in properties.items():
            for value, needs in (part.get("x-requires") or {}).items():
                for i, need in enumerate(needs):
                    if need not in known and not need.startswith(prefixes):
                        at = (*place, "properties", option, "x-requires", value, i)
                        message = f"there is no capability '{need}', which option '{option}' requires for '{value}'"
                        yield Problem(at, message, need, f"one of {', '.join(known)}", fix=did_you_mean(need, known))
