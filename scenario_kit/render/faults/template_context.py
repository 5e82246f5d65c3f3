"""Variables and functions of fault templates: the target, the rendered app, and look-ups in them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from scenario_kit.model import App, Component, FaultType, Object, Reference
from scenario_kit.model.kubernetes.pod_template import list_containers, read_template_labels
from scenario_kit.model.kubernetes.quantity import parse_quantity
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.model.spelling import did_you_mean
from scenario_kit.render.apps.namespaces import make_finder
from scenario_kit.render.faults.component_lookups import ResolvedComponent, list_auxiliary, list_dependants
from scenario_kit.render.faults.container_lookups import ContainerEnv, ContainerLookup, index_of
from scenario_kit.render.faults.created_object import find_created
from scenario_kit.render.faults.effects import EffectSubject
from scenario_kit.render.faults.preconditions import build_refusal
from scenario_kit.render.faults.target_lookups import ResolvedTarget, match_pods, select_pods
from scenario_kit.render.faults.template_variables import TemplateVariables
from scenario_kit.render.objects.config_consumers import find_readers
from scenario_kit.render.objects.files import describe_files
from scenario_kit.render.objects.flags import describe_flags
from scenario_kit.render.objects.jsonfields import list_documents, replace_field
from scenario_kit.render.objects.load_settings import describe_load_settings
from scenario_kit.render.objects.lookup import (
    find_object,
    find_workload_behind,
    format_reference,
    look_up,
)
from scenario_kit.render.objects.service_ports import find_called_port
from scenario_kit.render.templating.authoring_error import build_error
from scenario_kit.render.templating.target import FaultTarget

#: Letters and digits that do not form words.
_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
#: Regular expression of the suffix of a generated name.
GENERATED_SUFFIX: Final = rf"[{_ALPHABET}]{{5}}"
#: Maximum length of names of chaos objects, from which Chaos Mesh derives others.
_MAX_NAME: Final = 20


class Rendered(dict[str, Any]):
    """A rendered object; call it with a reference to get another: ``object('ConfigMap/flagd-config')``."""

    def __init__(self, scope: Scope, obj: Mapping[str, Any]) -> None:
        super().__init__(obj)
        self._scope = scope

    def __call__(self, ref: object) -> Object:
        """Return the object that ``ref`` names; an error if there is none."""
        return self._scope.find(ref)


@dataclass(frozen=True, slots=True)
class Scope:
    """The inputs of a fault's rendering; ``variables`` builds its template variables."""

    app: App
    objects: Sequence[Object]
    namespace: str
    scenario: str
    fault: str
    target: FaultTarget
    load: Mapping[str, Any]
    given: Mapping[str, Any] = field(default_factory=dict)

    def variables(self, parameters: Mapping[str, Any], fault_type: FaultType) -> TemplateVariables:
        """Return the template variables; ``workload`` exists only for targets with pods."""
        chosen = str(parameters.get("container", ""))
        names: dict[str, Any] = {
            "target": ResolvedTarget(self.target.ref, self.target.namespace, self._workload, self.objects),
            "parameters": parameters,
            "given": self.given,
            "object": Rendered(self, {}),
            "app": self._app(),
            "load": self.load,
            "fault": self.fault,
            "index_of": index_of,
            "refuse": self.refuse,
            "neutral": self.neutral,
            "mebibytes": lambda quantity: parse_quantity(quantity or 0) / 2**20,
            "millicores": lambda quantity: parse_quantity(quantity or 0) * 1000,
            "pod_selector": self.pod_selector,
            "objects": self.of_kind,
            "names": lambda *kinds: [obj["metadata"]["name"] for obj in self.of_kind(*kinds)],
            "readers": self.readers,
            "documents": list_documents,
            "with_field": self.with_field,
            "callers": self.callers,
            "dependants": self.dependants,
            "component_of": self.component_of,
            "role_of": self.role_of,
            "workload_of": self.workload_of,
            "pods_of": self.pods_of,
            "workloads_with_label": self.workloads_with_label,
            "components": lambda *roles: [c.name for c in self.app.components if c.role in roles],
            "workloads": lambda *roles: [c.workload for c in self.app.components if c.role in roles],
            "container": ContainerLookup(self.container, self.target, chosen),
            "files": ContainerLookup(self.files, self.target, chosen),
            "client": self.client,
            "address_variables": self.address_variables,
            "called_port": self.called_port,
            "tcp_ports": self.tcp_ports,
            "env_index": lambda container, name: index_of(container.get("env", []), "name", name),
        }
        obj = look_up(self.objects, self.target.ref, self.namespace)
        if obj is not None:
            names["object"] = Rendered(self, obj)
            workload = find_workload_behind(self.objects, obj)
            if workload is not None:
                names["workload"] = workload
        container = names["container"]
        lookups: dict[str, Callable[[], Any]] = {
            "created": lambda: find_created(fault_type.changes, made),
            "component": self._component,
            "env": lambda: ContainerEnv(container.get("env", [])),
            "ports": lambda: [port["containerPort"] for port in container.get("ports") or ()],
            "limits": lambda: dict((container.get("resources") or {}).get("limits") or {}),
            "requests": lambda: dict((container.get("resources") or {}).get("requests") or {}),
        }
        made: TemplateVariables = TemplateVariables(
            names, lookups, fault_type.variables, f"fault '{self.fault}' ({fault_type.name})"
        )
        return made

    def _component(self) -> ResolvedComponent:
        return ResolvedComponent(self.component_of(self.target), self.app)

    def find(self, ref: object) -> Object:
        """Find the rendered object of a reference or target; an object is returned as is."""
        if isinstance(ref, Mapping) and "kind" in ref:
            return dict(ref)
        return find_object(self.objects, self._reference(ref), self.namespace, f"fault '{self.fault}'")

    def find_or_none(self, ref: str) -> Object | None:
        """Find the rendered object of a reference; None if the app has none."""
        return look_up(self.objects, self._reference(ref), self.namespace)

    def subject(self, variables: Mapping[str, Any], share: float = 1.0) -> EffectSubject:
        """Return the subject of the named effect checks; ``share`` of the target's pods are hit."""
        return EffectSubject(self.target, self.app, self._workload, self.component_of, variables, share)

    def of_kind(self, *kinds: str) -> list[Object]:
        """Return the rendered objects of these kinds, in the app's order."""
        return [dict(o) for o in self.objects if o["kind"] in kinds]

    def refuse(self, message: str) -> NoReturn:
        """Abort rendering because these parameters have no effect."""
        raise build_refusal(self.fault, self.target, message)

    def neutral(self, prefix: str = "set") -> str:
        """Return an uninformative name of at most 20 characters, stable across runs of a scenario."""
        value = int(hashlib.sha256(f"{self.scenario}/{self.fault}/{prefix}".encode()).hexdigest(), 16)
        tail = "".join(_ALPHABET[(value >> (5 * i)) % len(_ALPHABET)] for i in range(5))
        return f"{prefix[: _MAX_NAME - 6].rstrip('-')}-{tail}"

    def pod_selector(self, workload: object) -> dict[str, Any]:
        """Return labels that select exactly the pods of a workload, or of the one that a Service selects."""
        return select_pods(self._workload(workload))

    def readers(self, ref: object, way: str = "") -> list[Reference]:
        """Return workloads whose pods read a ConfigMap, Secret or claim; ``way`` restricts to ``volume`` or ``env``."""
        return find_readers(self.objects, self._reference(ref), self.namespace, way)

    def with_field(self, text: object, path: str, value: object) -> str:
        """Replace the value of a field in a JSON document; an error if the field is missing."""
        try:
            return replace_field(text, path, value)
        except ValueError as error:
            raise build_error("SK120", f"fault '{self.fault}': {error}") from error

    def callers(self, component: str) -> list[str]:
        """List the callers of a component that fail when it fails."""
        self._require_component(component)
        return list(self.app.callers(component))

    def role_of(self, ref: object) -> str:
        """Return the role of the component of a workload or Service; empty if it has none."""
        component = self._find_component(self._reference(ref))
        return "" if component is None else component.role

    def workload_of(self, component: str) -> str:
        """Return the workload of a component."""
        self._require_component(component)
        return next(c.workload for c in self.app.components if c.name == component)

    def pods_of(self, ref: object) -> str:
        """Build the regular expression that matches a workload's pod names."""
        return match_pods(self._workload(ref))

    def workloads_with_label(self, key: str, value: str = "") -> list[str]:
        """List the workloads whose pods have a label, with this value if one is given."""
        owners = self.of_kind("Deployment", "StatefulSet", "DaemonSet")
        return [
            f"{owner['kind']}/{owner['metadata']['name']}"
            for owner in owners
            if key in (labels := read_template_labels(owner)) and value in ("", labels[key])
        ]

    def dependants(self, component: str) -> list[str]:
        """List all components that depend on one, including consumers and callers that swallow its failures."""
        self._require_component(component)
        return list_dependants(self.app, component)

    def _require_component(self, component: str) -> None:
        if self.app.component(component) is None:
            known = [c.name for c in self.app.components]
            raise build_error(
                "SK120",
                f"fault '{self.fault}': {self.app.name} has no component '{component}'",
                fix=did_you_mean(component, known),
            )

    def component_of(self, ref: object) -> str:
        """Return the component of a workload or Service."""
        parsed = self._reference(ref)
        component = self._find_component(parsed)
        if component is not None:
            return component.name
        raise build_error(
            "SK120",
            f"fault '{self.fault}': '{parsed}' belongs to no component of {self.app.name}",
            expected="the workload or Service of a component",
        )

    def _find_component(self, parsed: Reference) -> Component | None:
        for component in self.app.components:
            if (component.workload.kind, component.workload.name) == (parsed.kind, parsed.name):
                return component
            if parsed.kind == "Service" and component.service == parsed.name:
                return component
        return None

    def container(self, workload: object, name: str = "") -> Object:
        """Return a container of a workload by name, by default the first."""
        owner = self._workload(workload)
        containers = list_containers(owner)
        for each in containers:
            if name in ("", each["name"]):
                return each
        names = [c["name"] for c in containers]
        before = name in [c["name"] for c in owner["spec"]["template"]["spec"].get("initContainers") or ()]
        what = f"runs '{name}' as an init container, which it cannot hit" if before else f"has no container '{name}'"
        raise build_error(
            "SK120",
            f"fault '{self.fault}': {owner['kind']}/{owner['metadata']['name']} {what}",
            expected=" | ".join(names),
            fix=did_you_mean(name, names),
        )

    def files(self, workload: object, name: str = "") -> dict[str, Any]:
        """Describe how a container of a workload uses files (``render.objects.files``)."""
        owner = self._workload(workload)
        return describe_files(self.app, self.component_of(owner), owner, self.container(owner, name))

    def client(self, ref: object, name: str = "") -> dict[str, Any]:
        """Return a client of a store by name, by default the first: ``name``, ``image``, ``env`` and ``choices``.

        ``choices`` lists the values of each ``{name}`` in its commands, where they are enumerable.
        """
        component = self.component_of(ref)
        for each in self.app.clients:
            if each.store == component and name in ("", each.name):
                choices: dict[str, list[str]] = {}
                for command in each.commands:
                    for hole, values in command.choices.items():
                        known = choices.setdefault(hole, [])
                        known += [v for v in values if v not in known]
                return {"name": each.name, "image": each.image, "env": list(each.env), "choices": choices}
        return self.refuse(f"{self.app.name} has no client '{name}' that talks to {component}")

    def address_variables(self, workload: object) -> list[str]:
        """List the literal environment variables with addresses of a workload's callees, synchronous calls first."""
        owner = self._workload(workload)
        component = self.component_of(owner)
        spare = list_auxiliary(self.app)
        calls = [c for c in self.app.calls if c.caller == component and c.callee not in spare]
        named = [name for call in sorted(calls, key=lambda c: c.mode != "Sync") for name in call.env]
        literal = {e["name"] for c in list_containers(owner) for e in c.get("env", []) if e.get("value")}
        return [name for name in dict.fromkeys(named) if name in literal]

    def called_port(self, service: object) -> int:
        """Return the Service port that the app's settings use, by default the first."""
        return find_called_port(self.objects, self.find(service))

    def tcp_ports(self, workload: object, name: str = "") -> list[int]:
        """Return the TCP ports that a container of a workload declares."""
        declared = self.container(workload, name).get("ports") or []
        return [port["containerPort"] for port in declared if port.get("protocol", "TCP") == "TCP"]

    def _workload(self, ref: object) -> Object:
        obj = self.find(ref)
        owner = find_workload_behind(self.objects, obj)
        if owner is None:
            raise build_error(
                "SK120",
                f"fault '{self.fault}': {obj['kind']}/{obj['metadata']['name']} has no pods of its own",
                expected=f"a {', '.join(WORKLOADS)}, or a Service in front of one",
            )
        return owner

    def _reference(self, ref: object) -> Reference:
        if isinstance(ref, Mapping):
            return format_reference(dict(ref), self.namespace)
        if isinstance(ref, FaultTarget):
            return ref.ref
        try:
            return make_finder(self.objects, self.namespace)(Reference.parse(str(ref)))
        except ValueError as error:
            raise build_error("SK104", f"fault '{self.fault}': {error}") from error

    def _app(self) -> dict[str, Any]:
        return {
            "name": self.app.name,
            "version": self.app.version,
            "namespace": self.namespace,
            "entry": self.app.entry,
            "components": [
                {
                    "name": c.name,
                    "workload": c.workload,
                    "service": c.service,
                    "role": c.role,
                    "serves": c.serves,
                    "jvm": {"returns": None, **c.jvm.to_json()} if c.jvm else None,
                }
                for c in self.app.components
            ],
            "calls": [
                {"caller": c.caller, "callee": c.callee, "mode": c.mode, "via": c.via, "config": c.config}
                for c in self.app.calls
            ],
            "flags": describe_flags(self.app, self.objects, self.namespace),
            "load": describe_load_settings(self.app, self.objects, self.namespace),
            "images": list(self.app.images),
        }
