"""ITBench scenarios, ground truths (v1 and v2) and index (https://github.com/itbench-hub/ITBench).

Names of files and fields are those of commit 8949d5b2 (2026-08-19).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import yaml

from scenario_kit.exporters.files import ExportedFile, ExportedFolder
from scenario_kit.exporters.scenario_incident import ScenarioIncident
from scenario_kit.importers.mechanisms import ITBENCH
from scenario_kit.model import Fault, Object
from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.model.kubernetes.pod_template import list_containers
from scenario_kit.model.kubernetes.reference import Reference
from scenario_kit.render.objects.lookup import find_object
from scenario_kit.schema.chaos import list_kinds as list_chaos_kinds
from scenario_kit.schema.object_types.kubernetes import list_versions
from scenario_kit.scoring.files.itbench_truth import build_truth_v1, build_truth_v2
from scenario_kit.scoring.graph.propagation import list_paths
from scenario_kit.scoring.matching.matcher import build_truth_index
from scenario_kit.scoring.metrics.complexity import classify_complexity, compute_complexity

FOLDER_NAME: Final = "itbench"
_CHAOS: Final = "scheduled-chaos-mesh-experiment"
#: ITBench's names of its apps, in a scenario and in the index, by the app's name in the catalogue.
_APPS: Final = {"otel-demo": ("opentelemetryDemo", "opentelemetry-demo"), "bookinfo": ("bookInfo", "book-info")}
#: Arguments that the schemas of injections require, beside the object (`schemas/json/faults`).
_REQUIRED: Final = {
    **dict.fromkeys(
        (
            "insufficient-kubernetes-workload-container-resources", "invalid-kubernetes-workload-container-command",
            "nonexistent-kubernetes-workload-container-image",
            "nonexistent-kubernetes-workload-persistent-volume-claim",
            "unsupported-architecture-kubernetes-workload-container-image", "valkey-workload-changed-password",
            "valkey-workload-out-of-memory",
        ),
        ("container.name",),
    ),
    "modified-kubernetes-workload-container-environment-variable": (
        "container.name", "container.env.name", "container.env.value",
    ),
    "kubernetes-api-server-request-surge": ("loadGenerator.options.requestsPerSecond",),
    "modified-target-port-kubernetes-service": ("targetPort",),
    "opentelemetry-demo-feature-flag": ("flag.name", "flag.state"),
    "traffic-denying-istio-gateway-authorization-policy": ("httpMethods",),
}  # fmt: skip


class InjectionGroup(NamedTuple):
    """The injections of a scenario, or the faults and app that ITBench lacks."""

    injections: list[dict[str, Any]]
    missing: tuple[str, ...] = ()


def build_itbench_scenarios(incidents: Sequence[ScenarioIncident]) -> list[ExportedFolder]:
    """Build one folder: ``scenario_<number>/`` and ``indexes/scenarios/<number>.json`` for each incident.

    If ITBench lacks a fault or the app of a scenario, only its truths are exported, with a note.
    """
    files: dict[str, ExportedFile] = {}
    notes = []
    for each in incidents:
        place, group = f"scenario_{each.number}", build_injections(each)
        for name, document in (("groundtruth_v1", build_truth_v1(each.truth)), ("groundtruth", _build_v2(each))):
            document["metadata"] = {"name": f"scenario-{each.number}"}
            files[f"{place}/{name}.yaml"] = _render_yaml(document)
        if group.missing:
            notes.append(f"{each.name}: {place} has no scenario.yaml: {'; '.join(group.missing)}")
        else:
            files[f"{place}/scenario.yaml"] = _render_yaml(_build_scenario(each, group))
            text = json.dumps(_describe(each, group), indent=2, ensure_ascii=False) + "\n"
            files[f"indexes/scenarios/{each.number}.json"] = ExportedFile(text)
    return [ExportedFolder(FOLDER_NAME, files, notes=tuple(notes))]


def build_injections(incident: ScenarioIncident) -> InjectionGroup:
    """Build the ITBench injection with the same mechanism for each fault."""
    spec = incident.scenario.spec
    missing = [] if spec.app.name in _APPS else [f"ITBench has no app {spec.app.name}"]
    rendered = {fault.name: fault for fault in incident.runbook.faults}
    injections = []
    for use in spec.faults:
        built = _build_injection(use, rendered[use.name], incident)
        injections += built
        if not built:
            missing.append(f"ITBench has no injection for the fault type {use.type} ({use.name})")
    return InjectionGroup([] if missing else injections, tuple(missing))


def _build_injection(use: FaultUse, fault: Fault, incident: ScenarioIncident) -> list[dict[str, Any]]:
    """Build the injection of a fault, with the arguments that it sets or that ITBench requires."""
    namespace, parameters = incident.runbook.app.namespace, incident.parameters[use.name]
    if fault.experiments:
        return [_schedule(experiment, namespace) for experiment in fault.experiments]
    known = next((name for name, mechanism in ITBENCH.items() if mechanism.fault == use.type), "")
    if not known:
        return []
    target = use.target
    args: dict[str, Any] = {
        "kubernetesObject": {
            "apiVersion": _find_api_version(target), "kind": target.kind,
            "metadata": {"name": target.name, "namespace": namespace},
        }
    }  # fmt: skip
    required = _REQUIRED.get(known, ())
    for path, rule in ITBENCH[known].fields.items():
        if rule.parameter in use.parameters or (path in required and rule.parameter in parameters):
            _put(args, path.split("."), parameters[rule.parameter])
        elif path in required and path == "container.name":
            _put(args, path.split("."), _find_container(use.target, incident))
    return [{"id": known, "args": args}]


def _find_container(target: Reference, incident: ScenarioIncident) -> str:
    """Return the container on which a fault of a workload acts by default: the first one."""
    runbook = incident.runbook
    workload = find_object(runbook.objects, target, runbook.namespace, incident.name)
    return str(list_containers(workload)[0]["name"])


def _find_api_version(target: Reference) -> str:
    """Return the API version of a target's kind: the one that Kubernetes prefers, or the v1 of its own group."""
    if target.group:
        return f"{target.group}/v1"
    if target.kind in list_chaos_kinds():
        return "chaos-mesh.org/v1alpha1"
    return next(iter(list_versions(target.kind)), "v1")


def _put(document: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for step in path[:-1]:
        document = document.setdefault(step, {})
    document[path[-1]] = value


def _schedule(experiment: Object, namespace: str) -> dict[str, Any]:
    """Schedule an experiment as ITBench does: every minute, without concurrent runs."""
    kind = experiment["kind"]
    key = f"{kind.removesuffix('Chaos').lower()}Chaos"  # as Chaos Mesh spells it: podChaos, httpChaos, jvmChaos
    spec: dict[str, Any] = {
        "schedule": "* * * * *", "historyLimit": 1, "concurrencyPolicy": "Forbid", "type": kind,
        key: experiment["spec"],
    }  # fmt: skip
    schedule: dict[str, Any] = {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": "Schedule"}
    schedule["metadata"] = {"name": experiment["metadata"].get("name", kind.lower()), "namespace": namespace}
    return {"id": _CHAOS, "args": {"kubernetesObject": schedule, "scheduleSpec": spec}}


def _build_scenario(incident: ScenarioIncident, group: InjectionGroup) -> dict[str, Any]:
    app = _APPS[incident.scenario.spec.app.name][0]
    faults = [{"injections": group.injections}] if group.injections else []
    spec = {"applications": {app: {"enabled": True}}, "faults": faults, "tools": {"sre": {"enabled": True}}}
    metadata = {"name": f"scenario-{incident.number}"}
    return {"apiVersion": "itbench.io/v2", "kind": "Scenario", "metadata": metadata, "spec": spec}


def _build_v2(incident: ScenarioIncident) -> dict[str, Any]:
    document = build_truth_v2(incident.truth)
    for entity in document["spec"]["entities"]:
        kind = Reference(entity["kind"], entity["metadata"]["name"])
        entity.update({"apiVersion": _find_api_version(kind), **{key: entity.pop(key) for key in tuple(entity)}})
    document["spec"]["solutions"] = _list_solutions(incident)
    return document


def _list_solutions(incident: ScenarioIncident) -> list[list[dict[str, Any]]]:
    """List the solutions: each one's description and the objects it changes."""
    found = []
    for solution in incident.scenario.spec.solutions:
        objects = ", ".join(str(t) for change in solution.changes for t in [change.operation.target] if t)
        text = f"{solution.description or solution.name}{f' ({objects})' if objects else ''}"
        found.append([{"steps": [{"text": text}]}])
    return found


def _describe(incident: ScenarioIncident, group: InjectionGroup) -> dict[str, Any]:
    """Build the index record of a scenario."""
    spec = incident.scenario.spec
    app = _APPS[spec.app.name][1]
    return {
        "id": incident.number,
        "category": "sre",
        "complexity": _classify(incident),
        "alerts": list(dict.fromkeys(incident.truth.alerts)),
        "disruptions": [{"injections": group.injections}] if group.injections else [],
        "environment": {"applications": [{"id": app, "args": {}}]},
        "platforms": ["Kubernetes"],
        "tags": list(spec.tags),
        "description": spec.title,
        "solutions": _list_solutions(incident),
    }


def _classify(incident: ScenarioIncident) -> str:
    """Classify the complexity as low, medium or high; without a repair it is low."""
    truth = incident.truth
    index = build_truth_index(truth)
    if truth.steps is None or not index.roots:
        return "low"
    path = max(1, *(len(each) - 1 for each in list_paths(index)))
    kinds = {group.kind.lower() for group in truth.groups}
    return classify_complexity(compute_complexity(path, max(1, truth.steps), len(kinds))).lower()


def _render_yaml(document: Any) -> ExportedFile:
    return ExportedFile(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))
