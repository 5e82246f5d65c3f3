"""Load and render what a scenario refers to. Missing parts are left out; rules report them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.lint.context.scenario_context import LintContext, list_groupless
from scenario_kit.lint.simulation.applied_changes import apply_changes
from scenario_kit.load import Loaded
from scenario_kit.model import AlertRule, App, Fault, FaultType, Finding, Object
from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.model.identity_cache import cache_by_identity
from scenario_kit.model.json_document import Place
from scenario_kit.render import render_app, render_fault, resolve_options
from scenario_kit.render.apps.namespaces import locate_components

_T = TypeVar("_T")
#: Codes that rules report with a more exact position.
_REPORTED = ("SK109", "SK110")
#: Where a scenario holds fault types of its own.
_HELD = ("spec", "faultTypes")


def build_context(path: Path, loaded: Loaded, catalog: Catalog) -> LintContext:
    """Build the context of one scenario file."""
    scenario, spec = loaded.scenario, loaded.scenario.spec
    catalog = catalog.extend(spec.fault_types)
    app = _find_or_none(lambda: catalog.app(spec.app.name, spec.app.version))
    objects: tuple[Object, ...] | None = None
    if app is not None and (rendered := _render_app(app, loaded, catalog)) is not None:
        app, objects = rendered
    types = _load_types(path, spec.faults, catalog)
    faults: dict[str, Fault] = {}
    unrendered: list[tuple[Place, Finding]] = []
    known = objects or ()
    for i, use in enumerate(spec.faults):
        if app is None or objects is None or not _can_render(use, types, known, app):
            continue
        try:
            load = spec.app.load.to_json()
            faults[use.name] = render_fault(types[use.type], use, app, known, app.namespace, scenario.name, load=load)
            for change in faults[use.name].changes:
                if change.operation.creates:
                    known = change.operation.simulate(known, app, app.namespace)
        except AuthoringError as error:
            unrendered += [(("spec", "faults", i), found) for found in error.findings if found.code not in _REPORTED]
    case = LintContext(
        path=path,
        scenario=scenario,
        positions=loaded.positions.drop_texts(_HELD) if spec.fault_types else loaded.positions,
        held=tuple(loaded.positions.within((*_HELD, i)) for i in range(len(spec.fault_types))),
        catalog=catalog,
        app=app,
        objects=objects,
        alerts=_load_alerts(loaded, catalog),
        types=types,
        faults=faults,
        unrendered=tuple(unrendered),
        merged=catalog.demands_merged(path),
    )
    return _simulate_changes(case)


def _simulate_changes(case: LintContext) -> LintContext:
    """Apply the changes to the rendered objects and record those that fail.

    Solutions and decoys are applied only if all faults could be: otherwise they repair something that is not broken.
    """
    if case.app is None or case.objects is None:
        return case
    broken, unbroken = case.objects, []
    for place, _, fault in case.list_rendered():
        for applied in apply_changes(broken, fault.changes, case.app):
            broken = applied.after
            if applied.error:
                unbroken.append((place, applied.error))
    unrepaired = []
    if not unbroken and len(case.faults) == len(case.scenario.spec.faults):
        for procedure in case.procedures():
            made = enumerate(apply_changes(broken, procedure.changes, case.app))
            unrepaired += [((*procedure.place, "changes", j), each.error) for j, each in made if each.error]
    return replace(case, unbroken=tuple(unbroken), unrepaired=tuple(unrepaired))


def _load_types(path: Path, uses: tuple[FaultUse, ...], catalog: Catalog) -> dict[str, FaultType]:
    found: dict[str, FaultType] = {}
    for use in uses:
        fault_type = _find_or_none(lambda name=use.type: catalog.fault(name, path))  # type: ignore[misc]
        if fault_type is not None:
            found[use.type] = fault_type
    return found


def _render_app(app: App, loaded: Loaded, catalog: Catalog) -> tuple[App, tuple[Object, ...]] | None:
    """Return the app with qualified references, and its objects; None if a rule reports why it cannot be rendered."""
    choice = loaded.scenario.spec.app

    def render() -> tuple[App, tuple[Object, ...]]:
        options = json.dumps(resolve_options(app, choice.options, choice.load.profile), sort_keys=True)
        return _render_once(app, options, choice.load.users, str(catalog.templates(app.name)))

    return _find_or_none(render)


@cache_by_identity(maxsize=16)
def _render_once(app: App, options: str, users: int, templates: str) -> tuple[App, tuple[Object, ...]]:
    """Render an app for all scenarios with the same choices: rules modify no object, and changes copy what they write.

    So everything that depends on the app alone is computed only once, too.
    """
    objects = render_app(app, json.loads(options), users, app.namespace, templates=Path(templates))
    return locate_components(app, objects, app.namespace), objects


def _load_alerts(loaded: Loaded, catalog: Catalog) -> dict[str, AlertRule] | None:
    packs = loaded.scenario.spec.app.alert_packs
    return _find_or_none(lambda: {rule.name: rule for pack in packs for rule in catalog.alert_pack(pack)})


def _can_render(use: FaultUse, types: dict[str, FaultType], objects: tuple[Object, ...], app: App) -> bool:
    """Return whether type and target exist; if not, a rule reports that."""
    ref = use.target
    foreign = ref.namespace not in ("app", *app.namespaces)
    return use.type in types and (foreign or ref.groupless in list_groupless(objects, app.namespace))


def _find_or_none(find: Callable[[], _T]) -> _T | None:
    """Call ``find``; return None if what the author named does not exist, which a rule reports."""
    try:
        return find()
    except AuthoringError:
        return None
