"""Resolve and render a scenario into a runbook, which a trial runs without the catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.model import AlertRule, App, Change, Fault, Object, Procedure, Reference, Runbook, Scenario, Solution
from scenario_kit.model.authored.alert_rule import EVALUATION
from scenario_kit.model.authored.scenario import (
    FAULT_NODE,
    LABELLED,
    Decoy,
    FaultUse,
    GroundTruth,
    PropagationEdge,
    ScenarioSpec,
)
from scenario_kit.model.spelling import did_you_mean
from scenario_kit.render.apps.app import list_needs, render_app, resolve_options
from scenario_kit.render.apps.namespaces import list_used, locate_components, settle_change, settle_hosts
from scenario_kit.render.faults.fault import digest_of, render_fault
from scenario_kit.render.objects.load_settings import read_settings
from scenario_kit.render.scenarios.noise import build_sources
from scenario_kit.render.scenarios.restart_after_repair import complete_fault
from scenario_kit.render.scenarios.time_windows import compute_windows
from scenario_kit.render.templating.authoring_error import build_error, join_errors

_P = TypeVar("_P", Solution, Decoy)
#: Fields of a scenario that do not shape the incident.
_DESCRIPTIVE: Final = (
    "title", "description", "brief", "authors", "license", "tags", "references", "suspend", "suppress", "faultTypes",
)  # fmt: skip
#: Fields of an app that act only through its objects or repairs, or that only the twin reads.
_RENDERED: Final = ("title", "twin", "options", "loads", "images", "locks", "namespaces", "aftermath")


def resolve(
    scenario: Scenario, catalog: Catalog, namespace: str, *, users: int | None = None, beside: Path | None = None
) -> Runbook:
    """Return the runbook of a scenario in a namespace.

    Args:
        scenario: as loaded.
        catalog: source of the app, fault types and alert packs.
        namespace: the real namespace of the app.
        users: overrides the scenario's number of users (repeats vary the load).
        beside: the scenario's file or folder, for local fault types.

    Raises:
        AuthoringError: one finding per error that prevents rendering; labels, expectations and solutions are validated
            by ``lint`` instead.
    """
    spec, catalog = scenario.spec, catalog.extend(scenario.spec.fault_types)
    app = catalog.app(spec.app.name, spec.app.version)
    templates = catalog.templates(app.name)
    offered = spec.app.load.users if users is None else users
    load = {"profile": spec.app.load.profile, "users": offered}
    options = resolve_options(app, spec.app.options, spec.app.load.profile)
    objects = render_app(app, options, offered, namespace, templates=templates)
    rules = tuple(r for pack in spec.app.alert_packs for r in catalog.alert_pack(pack))
    app = locate_components(app, objects, namespace)
    faults = _render_faults(scenario, app, catalog, app_objects=objects, namespace=namespace, load=load, beside=beside)
    written = render_as_written(spec, app, templates)
    completed = [complete_fault(each, app, written) for each in faults]
    return Runbook(
        scenario=scenario.name,
        digest=digest_incident(spec, faults, rules, app, written),
        app=app,
        namespace=namespace,
        namespaces=list_used(app, objects, namespace),
        requires=list_needs(app, options),
        users=offered,
        objects=objects,
        rules=rules,
        windows=compute_windows(rules, spec.expect, spec.period),
        faults=faults,
        expect=spec.expect,
        ground_truth=_build_ground_truth(spec.ground_truth, faults),
        noise=build_sources(spec.noise, app, objects, namespace, offered),
        usual=read_settings(app, written, app.namespace),
        procedures=(
            *(
                _place_procedure(p, app, namespace)
                for p in (*_build_solutions(spec, completed), *_build_decoys(spec, faults))
            ),
            *_build_fixes(completed),
        ),
    )


def _render_faults(
    scenario: Scenario,
    app: App,
    catalog: Catalog,
    *,
    app_objects: Sequence[Object],
    namespace: str,
    load: Mapping[str, Any],
    beside: Path | None,
) -> tuple[Fault, ...]:
    objects = tuple(app_objects)
    faults: list[Fault] = []
    problems: list[AuthoringError] = []
    for use in sort_faults(scenario.spec.faults):
        try:
            fault_type = catalog.fault(use.type, beside)
            settled = msgspec.structs.replace(use, parameters=settle_hosts(use.parameters, app, namespace))
            faults.append(render_fault(fault_type, settled, app, objects, namespace, scenario.name, load=load))
        except AuthoringError as error:
            problems.append(error if error.findings else build_error("SK108", error.message, fix=error.fix))
            continue
        # A later fault may target an object that an earlier one creates; other changes stay invisible to it.
        for change in faults[-1].changes:
            if change.operation.creates:
                objects = change.operation.simulate(objects, app, namespace)
    if together := join_errors(problems):
        raise together
    return tuple(faults)


def sort_faults(uses: Sequence[FaultUse]) -> tuple[FaultUse, ...]:
    """Sort faults by start; a fault that waits for another comes after it.

    Raises:
        AuthoringError: a fault waits for an unknown one, or the waits form a cycle.
    """
    by_name = {use.name: use for use in uses}
    done: dict[str, FaultUse] = {}

    def visit(use: FaultUse, waiting: tuple[str, ...]) -> None:
        if use.name in waiting:
            raise build_error("SK116", f"faults wait for each other: {' → '.join((*waiting, use.name))}")
        before = use.start.after_fault
        if before is not None:
            if before not in by_name:
                raise build_error(
                    "SK115",
                    f"fault '{use.name}' starts after '{before}', which is not a fault of this scenario",
                    expected=" | ".join(by_name),
                    fix=did_you_mean(before, by_name),
                )
            visit(by_name[before], (*waiting, use.name))
        done.setdefault(use.name, use)

    for use in sorted(uses, key=_rank_start):
        visit(use, ())
    return tuple(done.values())


def _rank_start(use: FaultUse) -> tuple[int, int]:
    """Rank timed starts first, by delay, then starts after a fault, then starts on an alert."""
    start = use.start
    if start.on_alert is not None:
        return (2, 0)
    return (1, 0) if start.after_fault is not None else (0, start.after_seconds or 0)


def resolve_entity(ref: Reference, faults: Sequence[Fault]) -> Reference:
    """Replace ``Fault/<name>`` with the first cause of that fault; return other references unchanged.

    Raises:
        AuthoringError: the fault is unknown or has no cause.
    """
    if ref.kind != FAULT_NODE:
        return ref
    causes = next((f.causes for f in faults if f.name == ref.name), ())
    if not causes:
        known = [f.name for f in faults if f.causes]
        raise build_error(
            "SK115",
            f"'{ref}' does not name a fault of this scenario with a cause",
            expected=" | ".join(f"{FAULT_NODE}/{k}" for k in known),
            fix=did_you_mean(ref.name, known),
        )
    return causes[0].ref


def _build_ground_truth(truth: GroundTruth, faults: Sequence[Fault]) -> GroundTruth:
    return msgspec.structs.replace(
        truth,
        root_causes=tuple(
            msgspec.structs.replace(c, entity=resolve_entity(c.entity or Reference(FAULT_NODE, c.fault), faults))
            for c in truth.root_causes
        ),
        propagation=tuple(
            PropagationEdge(from_=resolve_entity(e.from_, faults), to=resolve_entity(e.to, faults), because=e.because)
            for e in truth.propagation
        ),
    )


def _build_solutions(spec: ScenarioSpec, faults: Sequence[Fault]) -> tuple[Procedure, ...]:
    """Build the scenario's solutions, by default those of its labelled faults; empty unless it is an incident."""
    if spec.ground_truth.outcome != "Incident":
        return ()
    inherited = _make_names_unique((f.name, s) for f in faults if f.role in LABELLED for s in f.solutions)
    return tuple(Procedure(use="Solution", name=s.name, solution=s) for s in spec.solutions or inherited)


def _build_decoys(spec: ScenarioSpec, faults: Sequence[Fault]) -> tuple[Procedure, ...]:
    if spec.ground_truth.outcome != "Incident":
        return ()
    inherited = [(f.name, d) for f in faults if f.role in LABELLED for d in f.decoys]
    new = [d for i, d in enumerate(inherited) if all(d[1].changes != other.changes for _, other in inherited[:i])]
    decoys = spec.decoys or _make_names_unique(new)
    return tuple(
        Procedure(
            use="Decoy", name=d.name, solution=Solution(name=d.name, description=d.description, changes=d.changes)
        )
        for d in decoys
    )


def _place_procedure(procedure: Procedure, app: App, namespace: str) -> Procedure:
    changes = tuple(settle_change(c, app, namespace) for c in procedure.solution.changes)
    return msgspec.structs.replace(procedure, solution=msgspec.structs.replace(procedure.solution, changes=changes))


def _make_names_unique(inherited: Iterable[tuple[str, _P]]) -> tuple[_P, ...]:
    """Prefix the names of procedures with the fault's name where an earlier one has the same name."""
    found: dict[str, _P] = {}
    for owner, each in inherited:
        name = each.name if each.name not in found else f"{owner}-{each.name}"
        found[name] = msgspec.structs.replace(each, name=name)
    return tuple(found.values())


def _build_fixes(faults: Sequence[Fault]) -> tuple[Procedure, ...]:
    """Build one repair per cause, named ``<fault>:<index of the cause>``.

    A single cause without a fix is repaired by undoing the fault from its receipts.
    """
    fixes = []
    for each in faults:
        for number, cause in enumerate(each.causes):
            alone = len(each.causes) == 1
            changes = cause.fix or ((Change.from_json({"removeFault": {"fault": each.name}}),) if alone else ())
            name = f"{each.name}:{number}"
            if changes:
                solution = Solution(name=name, fixes=(each.name,), description=f"Repair {cause.ref}", changes=changes)
                fixes.append(Procedure(use="Fix", name=name, solution=solution))
    return tuple(fixes)


def digest_incident(
    spec: ScenarioSpec, faults: Sequence[Fault], rules: Sequence[AlertRule], app: App, objects: Sequence[Object]
) -> str:
    """Compute the SHA-256 digest of an incident, without its texts and without the namespace and load of a trial.

    ``faults`` are rendered, in order of start; ``objects`` are those of ``render_as_written``. The digest covers
    rendered objects rather than templates, so that rewriting a template keeps it.
    """
    judged = [_select_judged(rule) for rule in rules]
    return digest_of(
        {
            "spec": select_causal(spec),
            "faults": [f.digest for f in faults],
            "rules": judged,
            "app": digest_app(app, objects),
        }
    )


def _select_judged(rule: AlertRule) -> Object:
    """Select the fields that decide whether a rule fires; defaults are omitted to keep older digests valid."""
    unusual = {} if rule.interval_seconds == EVALUATION else {"interval": rule.interval_seconds}
    unusual |= {"keepFiring": rule.keep_firing_seconds} if rule.keep_firing_seconds else {}
    return {"name": rule.name, "expr": rule.expr, "for": rule.for_seconds, "labels": rule.labels, **unusual}


def render_as_written(spec: ScenarioSpec, app: App, templates: Path) -> tuple[Object, ...]:
    """Render the app's objects with the scenario's own load, in the app's conventional namespace."""
    options = resolve_options(app, spec.app.options, spec.app.load.profile)
    return render_app(app, options, spec.app.load.users, app.namespace, templates=templates)


def digest_app(app: App, objects: Sequence[Object]) -> str:
    """Compute the SHA-256 digest of an app: its objects and the fields of its definition that they do not cover."""
    shape = {k: v for k, v in app.to_json().items() if k not in _RENDERED}
    placed = sorted(objects, key=lambda o: (o["kind"], o["metadata"]["name"]))
    return digest_of({"definition": shape, "objects": placed})


def select_causal(spec: ScenarioSpec) -> Object:
    """Select the fields of a scenario that shape the incident or its verdict."""
    return {k: v for k, v in spec.to_json().items() if k not in _DESCRIPTIVE}
