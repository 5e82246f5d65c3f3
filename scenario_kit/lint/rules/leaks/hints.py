"""SK221: data that a fault writes although no symptom needs it."""

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
from scenario_kit.lint.simulation.stages import Simulation, WrittenObject
from scenario_kit.load.yaml.edit import Drop, Edit
from scenario_kit.model import Object
from scenario_kit.model.json_document import Place

#: Maps from which an entry can be removed.
_DROPPABLE = ("annotations", "labels", "data", "stringData")
#: Lists whose names SK210 reads.
_NAMED = frozenset({"containers", "initContainers", "env"})
#: Shorter parameters occur in texts by chance.
_MIN_CHARACTERS = 4


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
            message = f"{subject} has unneeded data: {found.reason}"
            edits = _build_drop_edit(site.place, found)
            yield Problem(site.place, message, str(found.value)[:200], "nothing", position=site.position, edits=edits)


def _find_needless(case: LintContext | FaultCase) -> Iterator[tuple[Simulation, str, Needless]]:
    """Yield all unneeded data, with its simulation and object."""
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
    """Return whether another rule reports it better: SK210 revealing names, SK212 the fault's own names."""
    if not isinstance(case, FaultCase):
        return False
    of_list = found.keys[-1] == "name" and not _NAMED.isdisjoint(found.keys[-3:-2])
    named = of_list or found.keys == ("metadata", "name")
    if named and any(word in TELLING for word in split_words(str(found.value))):
        return True
    text = f"{found.keys[-1]} {found.value}"
    return any(mentions(text, name) for name in (SCENARIO, USE, case.fault.name))


def _build_drop_edit(place: Place, found: Needless) -> tuple[Edit, ...]:
    """Return the edit that removes a label, annotation or key if the file contains it literally."""
    field = found.keys[-2:-1]
    return (Drop(place),) if field and field[0] in _DROPPABLE and place[-2:] == found.keys[-2:] else ()


def _render_untouched(case: LintContext | FaultCase, stage: Simulation) -> tuple[Object, ...]:
    """Return the app's objects before any fault."""
    return (case.objects or ()) if isinstance(case, LintContext) else stage.before


def _is_created(one: WrittenObject) -> bool:
    """Return whether a change creates the object; other objects are known only in part."""
    own = (one.object["kind"], one.object["metadata"]["name"])
    bodies = [c.operation.manifest for c in one.stage.changes]
    return one.was is None and any((b["kind"], b["metadata"]["name"]) == own for b in bodies if b)


def _locate_parameter(case: LintContext | FaultCase, stage: Simulation, found: Needless) -> SourceSite | None:
    """Return the parameter whose text is part of the unneeded data."""
    if isinstance(case, FaultCase):
        return None
    texts = ((place, text) for place, text in case.positions.texts.items() if place[: len(stage.place)] == stage.place)
    return next(
        (SourceSite(p, t) for p, t in texts if len(t) >= _MIN_CHARACTERS and t in f"{found.keys} {found.value}"), None
    )
