"""Where a fault can be aimed in an app, and with which parameters: what ``new`` offers and golden renderings use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Component, Fault, FaultType, Object, Reference
from scenario_kit.model.authored.fault import Symptom
from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.render.faults.fault import render_fault, resolve_parameters
from scenario_kit.render.faults.template_context import Scope
from scenario_kit.render.objects.lookup import find_workload_behind, format_reference
from scenario_kit.render.simulation.changes import NoChange
from scenario_kit.render.simulation.observability import find_idle, resolves
from scenario_kit.render.templating.authoring_error import build_error
from scenario_kit.render.templating.engine import render
from scenario_kit.render.templating.target import parse_target

#: The key of a parameter's schema that holds an expression for the values which the rendered app allows.
CHOICES: Final = "x-choices"
#: The load that a fault is rendered for while there is no scenario yet.
_LOAD: Final[Mapping[str, Any]] = {"profile": "steady", "users": 50}
#: Components in the order in which breaking them makes sense.
_ROLES: Final = ("App", "Store", "Queue", "Entry", "Flags", "Load", "Platform")


@dataclass(frozen=True, slots=True)
class Offer:
    """One way to use a fault. ``parameters`` has all of them, ``choices`` the possible values where those are few.

    ``symptoms`` are those of the fault type that these parameters do not rule out.
    """

    target: str
    parameters: dict[str, Any]
    choices: dict[str, list[Any]]
    fault: Fault
    symptoms: tuple[Symptom, ...] = ()


def fits(fault_type: FaultType, app: App) -> bool:
    """Return whether a fault is meant for an app: some make sense for one app only."""
    named = [need.removeprefix("app:") for need in fault_type.requires if need.startswith("app:")]
    return not named or app.name in named


def list_targets(fault_type: FaultType, app: App, objects: Sequence[Object]) -> list[str]:
    """List references of the app's objects that are of the right kind, the most interesting ones first."""
    if not fits(fault_type, app):
        return []
    found = [
        obj
        for obj in objects
        if {obj["kind"], f"{obj['kind']}.{obj['apiVersion'].rpartition('/')[0]}"} & set(fault_type.targets)
    ]
    owners = {id(obj): find_component(app, objects, obj) for obj in found}
    return [
        _format_reference(obj, fault_type, app.namespace)
        for obj in sorted(found, key=lambda o: (*_rank(app, owners[id(o)]), format_reference(o)))
    ]


def find_component(app: App, objects: Sequence[Object], obj: Object) -> Component | None:
    """Find the component that an object belongs to: its workload, its Service, or what scales or guards its
    workload.
    """
    reference = format_reference(obj, app.namespace)
    scaled = (obj.get("spec") or {}).get("scaleTargetRef") or {}
    names = {reference, f"{scaled.get('kind')}/{scaled.get('name')}"}
    for component in app.components:
        if component.workload in names or (obj["kind"] == "Service" and component.service == obj["metadata"]["name"]):
            return component
    owner = find_workload_behind(objects, obj)
    return None if owner is None or owner is obj else find_component(app, objects, owner)


def find_component_hit(app: App, objects: Sequence[Object], target: str, fault: Fault) -> Component | None:
    """Find the component that is hit: the target's, or that of the first victim."""
    for text in (target, *(e.ref for e in fault.entities if e.role == "Victim"), *(e.ref for e in fault.entities)):
        ref = Reference.parse(text)
        obj = next((o for o in objects if (o["kind"], o["metadata"]["name"]) == (ref.kind, ref.name)), None)
        found = None if obj is None else find_component(app, objects, obj)
        if found is not None:
            return found
    return None


def offer(
    fault_type: FaultType,
    app: App,
    objects: Sequence[Object],
    target: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    name: str = "main",
    scenario: str = "draft",
) -> Offer:
    """Offer the fault, aimed at ``target``.

    Raises:
        AuthoringError: it cannot be aimed there, would not bite with these parameters, or nobody would notice it
            there unless something else happens too: a scenario may combine the two, but needs an author for that.
    """
    use = FaultUse(name=name, type=fault_type.name, target=target, parameters=dict(parameters or {}))
    rendered = render_fault(fault_type, use, app, objects, app.namespace, scenario)
    scope = Scope(
        app,
        objects,
        app.namespace,
        scenario,
        name,
        parse_target(target, app.namespace, app.namespaces),
        _LOAD,
        use.parameters,
    )
    filled = resolve_parameters(fault_type, use, scope)
    _require_effect(rendered, app, objects, filled)
    variables = scope.variables(filled, fault_type)
    _require_notice(rendered, app, objects)
    symptoms = tuple(
        each
        for i, each in enumerate(fault_type.symptoms)
        if not each.when or render(each.when, variables, f"{fault_type.name} symptoms[{i}].when")
    )
    return Offer(target, filled, _list_choices(fault_type, variables), rendered, symptoms)


def find_offers(fault_type: FaultType, app: App, objects: Sequence[Object]) -> Iterator[Offer]:
    """Find every target at which the fault bites with its default parameters."""
    for target in list_targets(fault_type, app, objects):
        try:
            yield offer(fault_type, app, objects, target)
        except AuthoringError:
            continue


def _require_effect(rendered: Fault, app: App, objects: Sequence[Object], parameters: Mapping[str, Any]) -> None:
    """Require an effect: a change that leaves the app as it is would stop a trial. Other reasons why it cannot be made,
    lint tells.
    """
    known = objects
    for change in rendered.changes:
        try:
            known = change.operation.simulate(known, app, app.namespace)
        except NoChange as error:
            given = ", ".join(f"{name} {value!r}" for name, value in parameters.items())
            raise build_error(
                "SK304",
                f"{rendered.type} at {rendered.target}: {error.message}, with {given or 'no parameters'}",
                observed="the app has these values already",
                expected="values that differ from those of the app",
                why="a change that changes nothing cannot break anything",
                fix="give another value: --parameter NAME=VALUE" if given else "aim it at another object",
            ) from error
        except AuthoringError:
            return


def _require_notice(rendered: Fault, app: App, objects: Sequence[Object]) -> None:
    obj = next((o for o in objects if format_reference(o, app.namespace) == rendered.target), None)
    component = None if obj is None else find_component(app, objects, obj)
    if component is None:
        return
    again = rendered.rollout is not None and rendered.rollout.reconnect == "Callers"
    if names := find_idle(rendered.effect, app, component.name, inbound=_is_inbound(rendered, obj), reconnected=again):
        raise build_error(
            "SK304",
            f"{rendered.type} at {rendered.target}: requests of users do not pass {component.name}",
            observed=f"its effect would have to show in requests of {', '.join(names)}",
            expected="a target that requests pass all the time",
            why="who is asked only at a start, when a cache is cold or by browsers can be broken and nobody notices",
            fix="aim it at another object, or write a scenario with a second fault that makes somebody ask",
        )
    made = [change.operation.experiment or {} for change in rendered.changes]
    if all(m.get("kind") == "DNSChaos" for m in made) and not resolves(app, component.name):
        raise build_error(
            "SK304",
            f"{rendered.type} at {rendered.target}: {component.name} looks up no names while it serves",
            observed="every connection that requests of users take stands until one of its ends starts again",
            expected="a target that opens connections all the time, as clients of HTTP do",
            why="who has a connection needs no name",
            fix="aim it at another object, or write a scenario with a second fault that restarts whom it asks",
        )


def _is_inbound(rendered: Fault, obj: Object | None) -> bool:
    """Return whether the fault only keeps others from reaching its target, which goes on asking them."""
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


def _format_reference(obj: Object, fault_type: FaultType, namespace: str) -> str:
    """Format as the fault spells its targets: with the group where the fault names it."""
    group = obj["apiVersion"].rpartition("/")[0]
    kind = obj["kind"] if obj["kind"] in fault_type.targets else f"{obj['kind']}.{group}"
    home = format_reference(obj, namespace).removesuffix(format_reference(obj))
    return f"{home}{kind}/{obj['metadata']['name']}"
