"""SK139: an app's definition names components that it does not define, or objects that its manifests do not contain."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.context.catalog_context import AppCase
from scenario_kit.lint.framework.name_fixes import fix_name
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.apps.app_references import find_missing
from scenario_kit.lint.rules.apps.missing_sources import find_missing_sources
from scenario_kit.lint.rules.apps.unknown_capabilities import find_unknown_capabilities
from scenario_kit.model import Object
from scenario_kit.model.json_document import Place
from scenario_kit.model.spelling import did_you_mean


@register_check("SK139", "App")
def check_members(case: AppCase) -> Iterator[Problem]:
    yield from find_missing(case)
    yield from find_missing_sources(case)
    yield from find_unknown_capabilities(case)
    for version, body in case.document["versions"].items():
        known = [component["name"] for component in body["components"]]
        for place, name in ((("entry",), case.document["entry"]), *_list_named(("versions", version), body)):
            if name not in known:
                message = f"{case.name} {version} has no component '{name}'"
                yield Problem(place, message, name, fix=did_you_mean(name, known), edits=fix_name(place, name, known))


def _list_named(at: Place, body: Object) -> Iterator[tuple[Place, str]]:
    """Yield the place and name of every component that a version refers to."""
    for i, call in enumerate(body.get("calls", ())):
        yield from (((*at, "calls", i, end), call[end]) for end in ("caller", "callee"))
    for i, client in enumerate(body.get("clients", ())):
        yield (*at, "clients", i, "store"), client["store"]
    for i, lasting in enumerate(body.get("aftermath", ())):
        yield (*at, "aftermath", i, "after"), lasting["after"]
        yield from (((*at, "aftermath", i, "restart", n), name) for n, name in enumerate(lasting["restart"]))
    for flag, effect in body.get("flags", {}).get("effects", {}).items():
        yield from (((*at, "flags", "effects", flag, k), effect[k]) for k in ("component", "shows") if k in effect)
