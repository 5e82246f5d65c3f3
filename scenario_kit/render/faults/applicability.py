"""Valid targets and parameters of a fault type in an app, for ``new`` and golden renderings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Component, Fault, FaultType, Object, Reference
from scenario_kit.model.authored.fault import Symptom
from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.model.kubernetes.reference import find_named, read_group
from scenario_kit.render.apps.namespaces import locate_components
from scenario_kit.render.faults.fault import render_fault, resolve_parameters
from scenario_kit.render.faults.template_context import Scope
from scenario_kit.render.objects.lookup import find_workload_behind, format_reference
from scenario_kit.render.simulation.changes import NoChange
from scenario_kit.render.simulation.observability import find_idle, resolves
from scenario_kit.render.simulation.request_paths import trace_traffic
from scenario_kit.render.templating.authoring_error import build_error
from scenario_kit.render.templating.engine import render
from scenario_kit.render.templating.target import resolve_target

#: Schema key of a parameter for the expression that lists the values possible in the rendered app.
CHOICES: Final = "x-choices"
#: The load assumed before a scenario exists.
_LOAD: Final[Mapping[str, Any]] = {"profile": "steady", "users": 50}
#: Roles in the order in which their components are offered as targets.
_ROLES: Final = ("App", "Store", "Queue", "Entry", "Flags", "Load", "Platform")


@dataclass(frozen=True, slots=True)
class Offer:
    """A fault type at a target with complete parameters.

    ``choices`` lists the possible values of enumerable parameters; ``symptoms`` are those that apply with these
    parameters.
    """

    target: Reference
    parameters: dict[str, Any]
    choices: dict[str, list[Any]]
    fault: Fault
    symptoms: tuple[Symptom, ...] = ()


def fits(fault_type: FaultType, app: App) -> bool:
    """Return whether a fault type applies to an app; ``app:`` requirements restrict it to one."""
    named = [need.removeprefix("app:") for need in fault_type.requires if need.startswith("app:")]
    return not named or app.name in named


def list_targets(fault_type: FaultType, app: App, objects: Sequence[Object]) -> list[Reference]:
    """List the objects of the app whose kind the fault type accepts, most relevant first."""
    if not fits(fault_type, app):
        return []
    found = [obj for obj in objects if {obj["kind"], f"{obj['kind']}.{read_group(obj)}"} & set(fault_type.targets)]
    owners = {id(obj): find_component(app, objects, obj) for obj in found}
    return [
        _format_reference(obj, fault_type, app.namespace)
        for obj in sorted(found, key=lambda o: (*_rank(app, owners[id(o)]), format_reference(o)))
    ]


def find_component(app: App, objects: Sequence[Object], obj: Object) -> Component | None:
    """Find the component of an object: a workload, a Service, or an HPA or PDB of the workload."""
    reference = format_reference(obj, app.namespace)
    scaled = (obj.get("spec") or {}).get("scaleTargetRef") or {}
    # Names of workloads are unique in an app, so its definition may leave out their namespaces.
    names = {reference, format_reference(obj), f"{scaled.get('kind')}/{scaled.get('name')}"}
    for component in app.components:
        if component.workload in names or (obj["kind"] == "Service" and component.service == obj["metadata"]["name"]):
            return component
    owner = find_workload_behind(objects, obj)
    return None if owner is None or owner is obj else find_component(app, objects, owner)


def find_affected_component(app: App, objects: Sequence[Object], target: Reference, fault: Fault) -> Component | None:
    """Find the component that a fault affects: the target's, else that of the first victim."""
    for ref in (target, *(e.ref for e in fault.entities if e.role == "Victim"), *(e.ref for e in fault.entities)):
        obj = find_named(objects, *ref.bare)
        found = None if obj is None else find_component(app, objects, obj)
        if found is not None:
            return found
    return None


def offer(
    fault_type: FaultType,
    app: App,
    objects: Sequence[Object],
    target: Reference,
    parameters: Mapping[str, Any] | None = None,
    *,
    name: str = "main",
    scenario: str = "draft",
) -> Offer:
    """Render the fault type for ``target`` and complete its parameters.

    Raises:
        AuthoringError: the fault type does not apply to the target, has no effect with these parameters, or has no
            observable effect without a second fault, which only an author can add.
    """
    app = locate_components(app, objects, app.namespace)
    use = FaultUse(name=name, type=fault_type.name, target=target, parameters=dict(parameters or {}))
    rendered = render_fault(fault_type, use, app, objects, app.namespace, scenario)
    scope = Scope(
        app,
        objects,
        app.namespace,
        scenario,
        name,
        resolve_target(target, app.namespace, app.namespaces),
        _LOAD,
        use.parameters,
    )
    filled = resolve_parameters(fault_type, use, scope)
    _require_effect(rendered, app, objects, filled)
    variables = scope.variables(filled, fault_type)
    _require_traffic(rendered, app, objects)
    symptoms = tuple(
        each
        for i, each in enumerate(fault_type.symptoms)
        if not each.when or render(each.when, variables, f"{fault_type.name} symptoms[{i}].when")
    )
    return Offer(target, filled, _list_choices(fault_type, variables), rendered, symptoms)


def find_offers(fault_type: FaultType, app: App, objects: Sequence[Object]) -> Iterator[Offer]:
    """Yield every target at which the fault takes effect with default parameters."""
    for target in list_targets(fault_type, app, objects):
        try:
            yield offer(fault_type, app, objects, target)
        except AuthoringError:
            continue


def _require_effect(rendered: Fault, app: App, objects: Sequence[Object], parameters: Mapping[str, Any]) -> None:
    """Reject changes that leave the app as it is: they would fail the trial. Lint reports other invalid changes."""
    known = objects
    for change in rendered.changes:
        try:
            known = change.operation.simulate(known, app, app.namespace)
        except NoChange as error:
            given = ", ".join(f"{name} {value!r}" for name, value in parameters.items())
            raise build_error(
                "SK304",
                f"{rendered.type} at {rendered.target}: {error.message}, with {given or 'no parameters'}",
                observed="the app already has these values",
                expected="values that differ from those of the app",
                why="a change without an effect cannot break anything",
                fix="choose another value: --parameter NAME=VALUE" if given else "choose another target",
            ) from error
        except AuthoringError:
            return


def _require_traffic(rendered: Fault, app: App, objects: Sequence[Object]) -> None:
    obj = next((o for o in objects if format_reference(o, app.namespace) == rendered.target), None)
    component = None if obj is None else find_component(app, objects, obj)
    if component is None:
        return
    again = rendered.rollout is not None and rendered.rollout.reconnect == "Callers"
    if names := find_idle(rendered.effect, app, component.name, inbound=_is_inbound(rendered, obj), reconnected=again):
        seen = ", ".join(names)
        paths = trace_traffic(app)
        callers = (
            ", ".join(sorted(caller for caller, callee in paths.calls if callee == component.name)) if paths else ""
        )
        raise build_error(
            "SK304",
            f"{rendered.type} at {rendered.target}: user requests do not pass "
            + (f"from {seen} to {component.name}" if callers else f"through {component.name}"),
            observed=f"its effect would only be visible in requests of {seen}",
            expected=f"an effect on requests of {callers}" if callers else "a target on the path of user requests",
            why="failures of a component that is only called at startup, on cache misses or by browsers go unnoticed",
            fix="choose another target, or add a second fault that causes calls to this one",
        )
    made = [change.operation.experiment or {} for change in rendered.changes]
    if all(m.get("kind") == "DNSChaos" for m in made) and not resolves(app, component.name):
        raise build_error(
            "SK304",
            f"{rendered.type} at {rendered.target}: {component.name} resolves no names while serving",
            observed="its connections on the path of user requests stay open until a client or server restarts",
            expected="a target that keeps opening connections, such as an HTTP client",
            why="an established connection needs no DNS lookup",
            fix="choose another target, or add a second fault that restarts a component that it calls",
        )


def _is_inbound(rendered: Fault, obj: Object | None) -> bool:
    """Return whether the fault only blocks calls to its target, not calls from it."""
    made = [(change.operation.creates and change.operation.manifest) or {} for change in rendered.changes]
    return (obj is not None and obj["kind"] == "Service") or all(
        m.get("kind") == "HTTPChaos"
        or (m.get("kind") == "NetworkPolicy" and m["spec"].get("policyTypes") == ["Ingress"])
        for m in made
    )


def _list_choices(fault_type: FaultType, variables: Mapping[str, Any]) -> dict[str, list[Any]]:
    found = {}
    for name, schema in fault_type.parameters.get("properties", {}).items():
        if "enum" in schema:
            found[name] = list(schema["enum"])
        elif CHOICES in schema:
            found[name] = list(render(schema[CHOICES], variables, f"choices of {name}"))
    return found


def _rank(app: App, component: Component | None) -> tuple[int, int]:
    if component is None:
        return (len(_ROLES) - 2, 0)
    return (_ROLES.index(component.role), -len(app.callers(component.name)))


def _format_reference(obj: Object, fault_type: FaultType, namespace: str) -> Reference:
    """Return a reference as the fault type spells its targets, with the API group if it includes one."""
    ref = format_reference(obj, namespace)
    if ref.kind in fault_type.targets:
        return ref
    return Reference(ref.kind, ref.name, ref.namespace, read_group(obj))
