"""Render a fault type for its target."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from scenario_kit.errors import AuthoringError
from scenario_kit.load.schema.schemas import find_violations
from scenario_kit.load.schema.units import convert_to_unit
from scenario_kit.load.schema.validation import describe_type
from scenario_kit.model import APP_NAMESPACE, App, Decoy, Fault, FaultType, Object, Reference, Solution
from scenario_kit.model.authored.scenario import FaultUse, Load
from scenario_kit.model.json_document import replace_texts
from scenario_kit.model.spelling import did_you_mean
from scenario_kit.render.apps.namespaces import list_used, place_fault
from scenario_kit.render.faults.fault_sections import FaultSections
from scenario_kit.render.faults.modelled_fields import REAL_DATA_PLANE, find_unmodelled
from scenario_kit.render.faults.preconditions import check_preconditions, split_preconditions
from scenario_kit.render.faults.template_context import Scope
from scenario_kit.render.faults.template_variables import TemplateVariables
from scenario_kit.render.faults.variants.chaos_schedule import make_recurring
from scenario_kit.render.faults.variants.hidden_faults import hide_fault
from scenario_kit.render.faults.variants.replicas import limit_replicas, measure_share
from scenario_kit.render.objects.lookup import find_object
from scenario_kit.render.simulation.observability import find_unseen
from scenario_kit.render.templating.authoring_error import build_error, join_errors
from scenario_kit.render.templating.engine import render
from scenario_kit.render.templating.target import FaultTarget, resolve_target

#: Maximum length of an observed value in a finding.
_SHOWN = 200


def render_fault(
    fault_type: FaultType,
    use: FaultUse,
    app: App,
    objects: Sequence[Object],
    namespace: str,
    scenario_name: str,
    *,
    load: Mapping[str, Any] | None = None,
) -> Fault:
    """Render what is needed to inject, verify and remove a fault.

    Args:
        fault_type: the catalogue's entry.
        use: the scenario's entry in ``faults``.
        app: one version of the app.
        objects: the app's rendered objects.
        namespace: the app's real namespace.
        scenario_name: seeds generated names.
        load: ``profile`` and ``users``, with the scenario defaults for missing keys.

    Raises:
        AuthoringError: a missing target or one of the wrong kind, invalid parameters, parameters without an effect, a
            template that fails, or a fault that cannot be hidden although it should be. Findings list all problems.
    """
    target = _resolve_target(fault_type, use, app, objects, namespace)
    scope = Scope(app, objects, namespace, scenario_name, use.name, target, _build_load(load or {}), use.parameters)
    parameters, variables = _resolve_variables(fault_type, use, scope)
    rendered = limit_replicas(_render_sections(fault_type, use, scope, variables), use)
    _check_fault(rendered, app, _describe_fault(fault_type, use))
    if REAL_DATA_PLANE not in rendered.requires and find_unmodelled(rendered.changes, app, objects, namespace):
        rendered = msgspec.structs.replace(rendered, requires=(*rendered.requires, REAL_DATA_PLANE))
    if use.recurrence is not None:
        rendered = make_recurring(rendered, use.recurrence)
    if use.visibility == "Hidden":
        rendered = hide_fault(rendered, namespace, list_used(app, objects, namespace).values())
    rendered = place_fault(rendered, app, objects, namespace, target.namespace)
    known = _symbolise_namespaces(parameters, list_used(app, objects, namespace))
    return msgspec.structs.replace(rendered, digest=digest_of(_select_causal(fault_type, use, known)))


def fill_parameters(
    fault_type: FaultType, use: FaultUse, app: App, objects: Sequence[Object], namespace: str
) -> dict[str, Any]:
    """Return the parameters that a fault of a scenario has, with those that it leaves to their defaults.

    Raises:
        AuthoringError: as ``render_fault``, for the target and the parameters.
    """
    target = _resolve_target(fault_type, use, app, objects, namespace)
    scope = Scope(app, objects, namespace, "", use.name, target, _build_load({}), use.parameters)
    return resolve_parameters(fault_type, use, scope)


def _describe_fault(fault_type: FaultType, use: FaultUse) -> str:
    return f"fault '{use.name}' ({fault_type.name})"


def _resolve_variables(fault_type: FaultType, use: FaultUse, scope: Scope) -> tuple[dict[str, Any], TemplateVariables]:
    """Return the parameters, and the variables of the templates with them.

    Raises:
        AuthoringError: invalid parameters, or an unmet precondition.
    """
    if problem := join_errors(_find_violations(fault_type, use, use.parameters, complete=False)):
        raise problem
    early, late = split_preconditions(fault_type)
    check_preconditions(fault_type, early, scope.variables(use.parameters, fault_type), use.name)
    parameters = resolve_parameters(fault_type, use, scope)
    variables = scope.variables(parameters, fault_type)
    check_preconditions(fault_type, late, variables, use.name)
    return parameters, variables


def _render_sections(fault_type: FaultType, use: FaultUse, scope: Scope, variables: TemplateVariables) -> Fault:
    """Render the sections of a fault type in the namespace of its target, as declared."""
    where = _describe_fault(fault_type, use)
    share = measure_share(use, variables.get("workload"))
    sections = FaultSections(variables, where, scope.subject(variables, share), scope.find_or_none)
    # Before their repairs: changes reject parameters without an effect.
    changes = sections.changes(fault_type.changes, "changes")
    sections = replace(sections, written=tuple(change.to_json() for change in changes))
    entities = sections.entities(fault_type.entities, "entities")
    sections = replace(sections, causes=tuple(e.ref for e in entities if e.role == "Cause"))
    several = sum(e.role == "Cause" for e in entities) > 1
    return Fault(
        name=use.name,
        type=fault_type.name,
        version=fault_type.version,
        target=use.target,
        role=use.role,
        visibility=use.visibility,
        changes=changes,
        undo=sections.changes(fault_type.undo, "undo"),
        effect=sections.checks(fault_type.effect, "effect"),
        undone=sections.checks(fault_type.undone, "undone"),
        entities=entities,
        causes_join=fault_type.causes_join if several else "Independent",
        mitigation=fault_type.mitigation,
        persistence=fault_type.persistence,
        scope=fault_type.scope,
        rollout=use.rollout or fault_type.rollout,
        callers=_list_callers(scope, scope.target),
        start=use.start,
        lasts_seconds=use.lasts_seconds,
        solutions=sections.procedures(fault_type.solutions, Solution, "solutions", fixes=[use.name]),
        decoys=sections.procedures(fault_type.decoys, Decoy, "decoys"),
        requires=fault_type.requires,
        exceptions=fault_type.exceptions,
    )


def _check_fault(rendered: Fault, app: App, where: str) -> None:
    """Check that a rendered fault has an effect, that the effect is observable, and that each cause has a fix.

    Raises:
        AuthoringError: the first violation.
    """
    needed = {"changes": rendered.changes, "effect checks": rendered.effect, "entities": rendered.entities}
    for name, items in needed.items():
        if not items:
            raise build_error("SK304", f"{where} has no {name} with these parameters", fix="change its parameters")
    if unseen := find_unseen(rendered.effect, app):
        raise build_error(
            "SK304",
            f"{where}: no telemetry would show its effect at {rendered.target}",
            observed=f"its effect would only be visible in requests of {', '.join(unseen)}",
            expected="a target that serves user requests, or is called by a component that does",
            why="a fault whose effect cannot be verified cannot be a root cause",
            fix=f"choose another target for fault '{rendered.name}'{_explain_unmodelled(app, unseen)}",
        )
    for cause in rendered.causes:
        if not cause.fix and len(rendered.causes) > 1:
            raise build_error(
                "SK123",
                f"{where}: cause {cause.ref} has no `fix`, but the fault has several causes",
                expected="a fix for each cause that removes only this cause",
                why="each label is verified by repairing one cause and keeping the others",
            )
    repairs = [s.changes for s in rendered.solutions] + [d.changes for d in rendered.decoys]
    repairs += [e.fix for e in rendered.entities]
    made = [*rendered.changes, *rendered.undo, *(c for each in repairs for c in each)]
    simulated = app.twin is not None and REAL_DATA_PLANE not in rendered.requires
    for change in made:
        change.operation.check_command(app, where, simulated=simulated)


def resolve_parameters(fault_type: FaultType, use: FaultUse, scope: Scope) -> dict[str, Any]:
    """Return the parameters with the schema's defaults, which may be expressions.

    Raises:
        AuthoringError: one finding per parameter that the schema rejects.
    """
    known: Mapping[str, Any] = fault_type.parameters.get("properties", {})
    filled = copy.deepcopy(use.parameters)
    for name, schema in known.items():
        if name not in filled and "default" in schema:
            filled[name] = render(
                schema["default"], scope.variables(filled, fault_type), f"fault '{use.name}' default of {name}"
            )
    if problem := join_errors(_find_violations(fault_type, use, filled)):
        raise problem
    return filled


def _find_violations(
    fault_type: FaultType, use: FaultUse, parameters: dict[str, Any], *, complete: bool = True
) -> list[AuthoringError]:
    schema = fault_type.parameters if complete else {k: v for k, v in fault_type.parameters.items() if k != "required"}
    known = schema.get("properties", {})
    unknown = [n for n in parameters if n not in known]
    errors = [
        build_error(
            "SK109",
            f"fault '{use.name}': {fault_type.name} has no parameter '{name}'",
            expected=" | ".join(known) or "no parameters",
            fix=did_you_mean(name, known),
        )
        for name in unknown
    ]
    rest = {k: v for k, v in parameters.items() if k not in unknown}
    for place, message, instance in find_violations(rest, schema) if schema else ():
        where = ".".join(map(str, place))
        subject = f"parameter '{where}' of fault '{use.name}'" if where else f"parameters of fault '{use.name}'"
        expected, fix = _describe_parameter(str(place[0]), known[place[0]], instance) if len(place) == 1 else ("", "")
        shown = json.dumps(instance)[:_SHOWN]
        errors.append(build_error("SK109", f"{subject}: {message}", observed=shown, expected=expected, fix=fix))
    return errors


def _describe_parameter(name: str, schema: Mapping[str, Any], written: Any) -> tuple[str, str]:
    """Return what a parameter may be, and what to write instead of a value that it may not."""
    if "enum" in schema:
        known = [str(each) for each in schema["enum"]]
        return " | ".join(known), did_you_mean(str(written), known)
    expected = f"{describe_type(dict(schema))}: {schema.get('description', 'its value')}"
    meant = convert_to_unit(name, written) if schema.get("type") == "integer" else None
    fits = meant is not None and schema.get("minimum", meant) <= meant <= schema.get("maximum", meant)
    return expected, f"write {meant if fits and meant != written else expected}"


def _resolve_target(
    fault_type: FaultType, use: FaultUse, app: App, objects: Sequence[Object], namespace: str
) -> FaultTarget:
    target = resolve_target(use.target, namespace, app.namespaces)
    kinds = {target.kind, f"{target.kind}.{target.group}"}
    if not kinds & set(fault_type.targets):
        raise build_error(
            "SK110",
            f"fault '{use.name}': {fault_type.name} cannot be aimed at a {target.kind}",
            observed=use.target,
            expected=" | ".join(fault_type.targets),
            fix=_suggest_target(fault_type, target, objects),
        )
    if target.ref.namespace in (APP_NAMESPACE, *app.namespaces) and target.kind not in ("Node", "Namespace"):
        find_object(objects, target.ref, namespace, f"target of fault '{use.name}'")
    return target


def _suggest_target(fault_type: FaultType, target: FaultTarget, objects: Sequence[Object]) -> str:
    names = {(o["kind"], o["metadata"]["name"]) for o in objects}
    same = [f"{kind}/{target.name}" for kind in fault_type.targets if (kind, target.name) in names]
    return f"target: {same[0]}" if same else ""


def _build_load(load: Mapping[str, Any]) -> dict[str, Any]:
    usual = Load()
    return {"profile": usual.profile, "users": usual.users, **load}


def _explain_unmodelled(app: App, names: Sequence[str]) -> str:
    """Suggest a fix of the twin if it declares that components serving users report no spans."""
    silent = [c.name for c in app.components if c.name in names and c.role in ("App", "Entry")]
    if app.twin is None or not silent:
        return ""
    names = ", ".join(silent)
    return f"; if {names} do report such requests, declare it in the app's twin.yaml (`telemetry`, `unsetStatus`)"


def _list_callers(scope: Scope, target: FaultTarget) -> tuple[Reference, ...]:
    """List the workloads of the components that hold connections to the target's component, if it has one."""
    component = next(
        (
            c
            for c in scope.app.components
            if c.workload == target.ref or (target.kind == "Service" and c.service == target.name)
        ),
        None,
    )
    if component is None:
        return ()
    callers = (scope.app.component(name) for name in scope.app.dependants(component.name))
    # The load generator must keep running; its connections cannot mask a fault of the entry.
    return tuple(c.workload for c in callers if c is not None and c.role != "Load")


def _symbolise_namespaces(value: Any, namespaces: Mapping[str, str]) -> Any:
    """Replace real namespaces with symbolic ones, so that addresses in defaults do not depend on the trial."""

    def symbolise(text: str) -> str:
        for symbol, real in namespaces.items():
            text = text.replace(real, symbol)
        return text

    return replace_texts(value, symbolise)


def _select_causal(fault_type: FaultType, use: FaultUse, parameters: Mapping[str, Any]) -> Object:
    reported = ("title", "description", "references", "symptoms", "exceptions")
    return {
        "type": {k: v for k, v in fault_type.to_json().items() if k not in reported},
        "use": {**use.to_json(), "parameters": parameters},
    }


def digest_of(document: Any) -> str:
    """Compute the SHA-256 digest of a document's canonical JSON."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
