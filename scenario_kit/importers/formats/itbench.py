"""Import ITBench scenarios (``itbench.io/v2``, or without apiVersion and kind) with their ground truths."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from scenario_kit.importers.drafting import FaultIntent, ScenarioIntent
from scenario_kit.importers.formats.chaos_experiments import list_questions, map_schedule
from scenario_kit.importers.formats.context import (
    ImportContext,
    map_mechanism,
    open_documents,
    refuse_document,
    report_unknown_target,
)
from scenario_kit.importers.formats.itbench_truth import compare_truth, is_truth, refuse_truth
from scenario_kit.importers.inputs import InputFile
from scenario_kit.importers.ledger import InputNode
from scenario_kit.importers.mechanisms import ITBENCH, describe_unknown
from scenario_kit.importers.targets import find_component
from scenario_kit.model import App

_CHAOS: Final = "scheduled-chaos-mesh-experiment"
_WAIT_PHASES: Final = {
    "restart-kubernetes-workload": "a fault restarts the workloads that must read its change",
    "delete-workload-pods": "a fault scales through zero pods if its change requires it",
    "scale-kubernetes-workload": "the app's definition sets the number of replicas",
    "pause-execution": "write `start`: a fault can start once the previous one is effective",
}


def import_itbench(context: ImportContext, files: Sequence[InputFile]) -> None:
    """Import every scenario as a draft, compared with the ground truths of its folder."""
    nodes = open_documents(context, files)
    truths: dict[PurePath, list[InputNode]] = {}
    for node in nodes:
        if is_truth(node.value):
            truths.setdefault(PurePath(node.position.path).parent, []).append(node)
    for node in nodes:
        folder = PurePath(node.position.path).parent
        if is_truth(node.value):
            continue
        if not _is_scenario(node):
            refuse_document(node, "a scenario or a ground truth of ITBench")
            continue
        _import_scenario(context, node, truths.pop(folder, []))
    for node in (each for group in truths.values() for each in group):
        refuse_truth(node, "a ground truth alone does not describe the injection: import it with its scenario.yaml")


def _is_scenario(node: InputNode) -> bool:
    data = node.value if isinstance(node.value, dict) else {}
    body = data.get("spec") if data.get("kind") == "Scenario" else data
    return isinstance(body, dict) and "faults" in body and "applications" in body


def _import_scenario(context: ImportContext, node: InputNode, truths: Sequence[InputNode]) -> None:
    for name in ("apiVersion", "kind"):
        if (part := node.find(name)) is not None:
            part.take("the format")
    if (head := node.find("metadata", "name")) is not None:
        head.take("the name")
    body = node.find("spec") if "spec" in node.value else node
    assert body is not None
    _refuse_tools_section(body)
    app = _find_app(context, body)
    faults: list[FaultIntent] = []
    for group in body.list_nodes("faults"):
        for injection in group.list_nodes("injections"):
            faults += [] if app is None else _map_injection(context, injection, app)
        _refuse_wait_phases(group)
    if app is None:
        node.ledger.mark_undrafted(node.number, node.place)
    made = None
    name = node.read_text("metadata", "name") or PurePath(node.position.path).parent.name or "scenario"
    if app is not None and faults:
        intent = ScenarioIntent(name, app, node, faults, f"Imported from the ITBench scenario {name}.")
        intent.questions += list_questions(faults)
        made = context.writer.write(intent)
    elif app is not None:
        node.report_refusal("none of its injections could be mapped to a fault", "write the scenario by hand", node)
    for truth in truths:
        if made is None or app is None:
            refuse_truth(truth, "its scenario could not be drafted")
        else:
            compare_truth(truth, made, app)


def _find_app(context: ImportContext, body: InputNode) -> App | None:
    """Find the first enabled app that the catalogue has."""
    found: App | None = None
    for each in body.find("applications") or ():
        enabled = each.find("enabled")
        if enabled is not None and enabled.value is not True:
            enabled.take("not deployed")
            continue
        app = context.finder.find_app([each.name])
        if app is None or (found is not None and app.name != found.name):
            report_unknown_target(each, None, [each.name], (), each)
            continue
        found = app
        if enabled is not None:
            enabled.map(f"app: {app.name}")
        if (options := each.find("options")) is not None:
            options.refuse("the app's options have other names in the catalogue", "write them in `app.options`")
    return found


def _map_injection(context: ImportContext, node: InputNode, app: App) -> list[FaultIntent]:
    head, args = node.find("id"), node.find("args")
    name = node.read_text("id")
    if head is None or args is None:
        node.report_refusal("an injection needs `id` and `args`", "import a complete scenario")
        return []
    if name == _CHAOS:
        return _map_chaos(context, head, args)
    mechanism = ITBENCH.get(name)
    if mechanism is None or not mechanism.fault:
        unknown = mechanism or describe_unknown(name)
        node.refuse(unknown.because, unknown.fix)
        return []
    head.map(f"type: {mechanism.fault}")
    kind, target = args.read_text("kubernetesObject", "kind"), args.read_text("kubernetesObject", "metadata", "name")
    component = find_component(app, target)
    entity = component.name if component is not None else f"{kind}/{target}"
    for steps in (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")):
        if (part := args.find("kubernetesObject", *steps)) is not None:
            part.map(f"app: {app.name}" if steps[-1] == "namespace" else f"target: {entity}")
    fault = map_mechanism(context, mechanism, args, entity)
    return [] if fault is None else [fault]


def _map_chaos(context: ImportContext, head: InputNode, args: InputNode) -> list[FaultIntent]:
    """Map an experiment of Chaos Mesh, which ITBench wraps in a Schedule."""
    spec = args.find("scheduleSpec")
    if spec is None or not isinstance(spec.value, dict):
        args.report_refusal("it has no `scheduleSpec`", "import a complete scenario")
        return []
    head.map("a fault of Chaos Mesh")
    if (made := args.find("kubernetesObject")) is not None:
        made.refuse("a fault names the objects that it creates")
    return map_schedule(context, spec).faults


def _refuse_wait_phases(group: InputNode) -> None:
    for phase in group.find("waitFor") or ():
        for each in phase:
            name = each.read_text("id")
            each.refuse(_WAIT_PHASES.get(name, f"'{name}' has no counterpart"))


def _refuse_tools_section(body: InputNode) -> None:
    if (tools := body.find("tools")) is not None:
        tools.refuse("a trial deploys its own tools")
