"""SK221: what a fault writes and no symptom needs."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.context.catalog_context import SCENARIO, USE, FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.context.source_location import SourceSite, find_site
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.leaks.names import TELLING
from scenario_kit.lint.rules.leaks.needless import Needless, ObjectSurroundings, find_needless
from scenario_kit.lint.rules.leaks.needless.foreign_objects import find_foreign_writes
from scenario_kit.lint.rules.leaks.needless.surroundings import mentions, split_words
from scenario_kit.lint.simulation.place import Place
from scenario_kit.lint.simulation.stages import Simulation, WrittenObject
from scenario_kit.load.yaml.edit import Drop, Edit
from scenario_kit.model import Object

#: Maps of which an entry can be left out.
_DROPPABLE = ("annotations", "labels", "data", "stringData")
#: Parameters that short are part of a text by chance.
_TELLING = 4


@register_check("SK221", "Scenario", "Fault")
def check_hints(case: LintContext | FaultCase) -> Iterator[Problem]:
    reported: set[tuple[object, ...]] = set()
    for stage, subject, found in _find_needless(case):
        if _is_judged_elsewhere(case, found):
            continue
        site = find_site(case, stage, found.keys, found.value) or _locate_parameter(case, stage, found)
        key = (site, found.reason)
        if site is not None and key not in reported:
            reported.add(key)
            message = f"{subject} has what no symptom needs: {found.reason}"
            edits = _build_drop_edit(site.place, found)
            yield Problem(site.place, message, str(found.value)[:200], "nothing", position=site.position, edits=edits)


def _find_needless(case: LintContext | FaultCase) -> Iterator[tuple[Simulation, str, Needless]]:
    """Find everything needless, with its stage and its object."""
    worlds = {
        id(stage): ObjectSurroundings(stage.app, _render_untouched(case, stage), stage.after)
        for stage in case.stages
        if stage.breaks
    }
    for one in case.written:
        if world := worlds.get(id(one.stage)):
            subject = f"{one.object['kind']}/{one.object['metadata']['name']}"
            for found in find_needless(one.object, one.was, world, created=_is_created(one)):
                yield one.stage, subject, found
    for stage in case.stages:
        if world := worlds.get(id(stage)):
            yield from ((stage, subject, found) for subject, found in find_foreign_writes(stage, world))


def _is_judged_elsewhere(case: LintContext | FaultCase, found: Needless) -> bool:
    """Return whether another rule says so with better words: SK210 of telling names, SK212 of the file's own ones."""
    if not isinstance(case, FaultCase):
        return False
    if found.keys[-1] == "name" and any(word in TELLING for word in split_words(str(found.value))):
        return True
    text = f"{found.keys[-1]} {found.value}"
    return any(mentions(text, name) for name in (SCENARIO, USE, case.fault.name))


def _build_drop_edit(place: Place, found: Needless) -> tuple[Edit, ...]:
    """Build the edit that leaves a label, an annotation or a key out, where the file writes it under this very name."""
    field = found.keys[-2:-1]
    return (Drop(place),) if field and field[0] in _DROPPABLE and place[-2:] == found.keys[-2:] else ()


def _render_untouched(case: LintContext | FaultCase, stage: Simulation) -> tuple[Object, ...]:
    """Render the app's objects before any fault."""
    return (case.objects or ()) if isinstance(case, LintContext) else stage.before


def _is_created(one: WrittenObject) -> bool:
    """Return whether a change of the stage makes the object; others are known only in part."""
    own = (one.object["kind"], one.object["metadata"]["name"])
    bodies = [c.operation.manifest for c in one.stage.changes]
    return one.was is None and any((b["kind"], b["metadata"]["name"]) == own for b in bodies if b)


def _locate_parameter(case: LintContext | FaultCase, stage: Simulation, found: Needless) -> SourceSite | None:
    """Locate the parameters of a fault, where the text of one is part of what it writes."""
    if isinstance(case, FaultCase):
        return None
    texts = ((place, text) for place, text in case.positions.texts.items() if place[: len(stage.place)] == stage.place)
    return next((SourceSite(p, t) for p, t in texts if len(t) >= _TELLING and t in f"{found.keys} {found.value}"), None)
