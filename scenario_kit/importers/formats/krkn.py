"""Import krkn scenario files (https://krkn-chaos.dev/docs/scenarios/)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import msgspec

from scenario_kit.importers.drafting import FaultIntent, ScenarioIntent, make_name
from scenario_kit.importers.formats.chaos_experiments import list_questions
from scenario_kit.importers.formats.context import (
    ImportContext,
    explain_chosen_target,
    map_mechanism,
    open_documents,
    refuse_document,
    report_unknown_target,
)
from scenario_kit.importers.inputs import InputFile
from scenario_kit.importers.ledger import InputNode
from scenario_kit.importers.mechanisms import KRKN, describe_unknown
from scenario_kit.importers.targets import find_component, parse_labels, read_pattern
from scenario_kit.model import App

#: Settings of krkn that do not affect the incident, in every form of file.
_FRAMEWORK_FIELDS: Final = {
    "duration": "the fault lasts until it is repaired",
    "test_duration": "the fault lasts until it is repaired",
    "wait_duration": "a trial waits until the app is quiet",
    "instance_count": "the fault acts on all pods of the workload",
    "execution": "the fault acts on all pods at once",
    "execution_type": "the fault acts on all pods at once",
    "network_shaping_execution": "the fault acts on the network of the pod as a whole",
    "image": "a setting of krkn that does not affect the incident",
    "service_account": "a setting of krkn that does not affect the incident",
    "taints": "the fault is aimed at a workload, on any node",
    "interfaces": "the fault uses the first network device of the pod",
    "kubeconfig_path": "a trial has its own cluster",
    "kraken_config": "a setting of krkn that does not affect the incident",
    "exclude_label": "the fault acts on all pods of the workload",
    "force": "a setting of krkn that does not affect the incident",
}
_NAMES: Final = ("name_pattern", "pod_name", "target", "pvc_name")
_NAMESPACES: Final = ("namespace", "namespace_pattern", "namespace_name")
_LABELS: Final = ("label_selector", "pod_selector")
#: Forms without a fault, by the top-level field that identifies them.
_UNSUPPORTED_FORMS: Final = {
    "hog-type": "hog", "service_name": "service_hijacking", "network_chaos": "network_chaos",
    "node_scenarios": "node_scenarios", "cluster_shut_down_scenario": "cluster_shut_down_scenario",
    "zone_outage": "zone_outage", "target-port": "syn_flood", "kraken": "kraken",
}  # fmt: skip


def import_krkn(context: ImportContext, files: Sequence[InputFile]) -> None:
    """Import every file as one draft."""
    for node in open_documents(context, files):
        faults = _map_file(context, node)
        apps = {each[0].name: each[0] for each in faults}
        if not faults:
            continue
        app = next(iter(apps.values()))
        intents = []
        for owner, fault in faults:
            if owner.name == app.name:
                intents.append(fault)
            else:
                fault.node.report_refusal(f"it targets {owner.name}, but the file targets {app.name}", "split the file")
        stem = Path(node.position.path).stem
        intent = ScenarioIntent(make_name(stem), app, node, intents, f"Imported from the krkn scenario {stem}.")
        intent.questions += list_questions(intents)
        context.writer.write(intent)


_MappedFaults = list[tuple[App, FaultIntent]]


def _map_file(context: ImportContext, node: InputNode) -> _MappedFaults:
    """Map a file: a list of plugin entries, or an object whose field identifies its form."""
    if isinstance(node.value, list):
        if not any(isinstance(each, dict) and "id" in each for each in node.value):
            refuse_document(node, "a scenario of krkn")
            return []
        return [each for plugin in node for each in _map_plugin(context, plugin)]
    data = node.value if isinstance(node.value, dict) else {}
    for key, mapper in _FORMS.items():
        if key in data:
            return mapper(context, node)
    for key, name in _UNSUPPORTED_FORMS.items():
        if key in data:
            node.refuse(KRKN[name].because, KRKN[name].fix)
            return []
    refuse_document(node, "a scenario of krkn")
    return []


def _map_plugin(context: ImportContext, plugin: InputNode) -> _MappedFaults:
    """Map one plugin entry by its ``id``; its settings are in ``config`` or in the entry itself."""
    data = plugin.value if isinstance(plugin.value, dict) else {}
    name = str(data.get("id", ""))
    config = plugin.find("config") if isinstance(data.get("config"), dict) else plugin
    assert config is not None
    if (head := plugin.find("id")) is not None and name in _PLUGINS:
        head.map("the fault type")
    if name == "kill-pods":
        return _map_mechanism_at(context, config, "kill-pods")
    if name == "pod_network_outage":
        return _map_outage(context, config)
    if name in ("pod_network_chaos", "pod_egress_shaping", "pod_ingress_shaping"):
        return _map_shaping(context, config, name)
    known = KRKN.get(name) or describe_unknown(name or "an entry without id")
    plugin.refuse(known.because, known.fix)
    return []


_PLUGINS: Final = ("kill-pods", "pod_network_outage", "pod_network_chaos", "pod_egress_shaping", "pod_ingress_shaping")


def _map_mechanism_at(context: ImportContext, node: InputNode, mechanism: str) -> _MappedFaults:
    """Map a mechanism at the component that a node's names and labels select."""
    found = _find_entity(context, node)
    if found is None:
        return []
    app, entity = found
    fault = map_mechanism(context, KRKN[mechanism], node, entity)
    return [] if fault is None else [(app, fault)]


def _find_entity(context: ImportContext, node: InputNode) -> tuple[App, str] | None:
    """Find the app and component that a node's namespaces, labels and names select; decide about these fields."""
    for name, reason in _FRAMEWORK_FIELDS.items():
        part = node.find(name)
        if part is not None and not node.ledger.is_covered(part.number, part.place):
            part.refuse(reason)
    spaces = [read_pattern(text) for key in _NAMESPACES if (text := node.read_text(key))]
    labels: dict[str, str] = {}
    for key in _LABELS:
        part = node.find(key)
        if part is not None:
            labels |= parse_labels(part.value) if isinstance(part.value, str) else _read_labels(part.value)
    names = [read_pattern(text) for key in _NAMES if (text := node.read_text(key))]
    words = [*labels.values(), *filter(None, names)]
    app = context.finder.find_app(spaces, words)
    selected = context.finder.find_by_labels(app, labels) if app is not None and labels else []
    named = [each for name in words if app is not None and (each := find_component(app, name)) is not None]
    component = next(iter([*selected, *named]), context.finder.target)
    if app is None or component is None:
        report_unknown_target(node, app, spaces, words, node)
        return None
    if not selected and not named and not any(node.find(key) for key in (*_LABELS, *_NAMES)):
        node.report_guess(f"target: {component.workload}", explain_chosen_target(app, ()))
    for key in (*_NAMESPACES, *_LABELS, *_NAMES):
        part = node.find(key)
        if part is None or node.ledger.is_covered(part.number, part.place):
            continue
        if key in _NAMESPACES:
            part.map(f"app: {app.name}")
        elif selected or named:
            part.map(f"target: {component.workload}")
        else:
            part.guess(f"target: {component.workload}", explain_chosen_target(app, words))
    return app, component.name


def _read_labels(value: Any) -> dict[str, str]:
    return {str(key): str(each) for key, each in value.items()} if isinstance(value, dict) else {}


def _map_shaping(context: ImportContext, node: InputNode, name: str) -> _MappedFaults:
    """Map latency, loss and bandwidth of a workload's network to one fault each."""
    found = _find_entity(context, node)
    if found is None:
        return []
    app, entity = found
    for key in ("ingress", "egress"):
        if (part := node.find(key)) is not None:
            part.take("responses are delayed either way") if key == "egress" else part.refuse(
                "the fault acts on the workload's egress"
            )
    holder = node.find("network_params") or node
    faults: _MappedFaults = []
    for key in ("latency", "loss", "bandwidth"):
        part = holder.find(key)
        if part is None or str(part.value).strip(" %0.smu") == "":
            if part is not None:
                part.take("no effect")
            continue
        mechanism = KRKN[f"network.{key}"]
        if name == "pod_network_chaos" and key == "loss":  # in percent there
            mechanism = _read_as_percent(mechanism)
        fault = map_mechanism(context, mechanism, holder, entity)
        if fault is not None:
            faults.append((app, replace(fault, node=part)))
    return faults


def _read_as_percent(mechanism: Any) -> Any:
    fields = {key: msgspec.structs.replace(rule, unit="Percent") for key, rule in mechanism.fields.items()}
    return msgspec.structs.replace(mechanism, fields=fields)


def _map_outage(context: ImportContext, node: InputNode) -> _MappedFaults:
    """Map a pod network outage to one NetworkPolicy per blocked direction."""
    found = _find_entity(context, node)
    if found is None:
        return []
    for key in ("ingress_ports", "egress_ports"):
        if (part := node.find(key)) is not None:
            part.refuse("single ports cannot be blocked; the fault blocks all")
    direction = node.find("direction")
    directions = ["ingress", "egress"] if direction is None else [str(each.value) for each in direction]
    if direction is not None:
        direction.map(f"{len(directions)} policies")
    return _map_each(context, node, found, [f"pod_network_outage.{each.lower()}" for each in directions])


def _map_each(
    context: ImportContext, node: InputNode, found: tuple[App, str], mechanisms: Iterable[str]
) -> _MappedFaults:
    """Map one fault per known mechanism."""
    app, entity = found
    faults = [map_mechanism(context, KRKN[name], node, entity) for name in mechanisms if name in KRKN]
    return [(app, fault) for fault in faults if fault is not None]


def _find_inner(node: InputNode, name: str) -> InputNode | None:
    """Find the mapping with a scenario's fields; refuse the document without it."""
    inner = node.find(name)
    if inner is None or not isinstance(inner.value, dict):
        refuse_document(node, "a scenario of krkn")
        return None
    return inner


def _map_application_outage(context: ImportContext, node: InputNode) -> _MappedFaults:
    inner = _find_inner(node, "application_outage")
    found = None if inner is None else _find_entity(context, inner)
    if inner is None or found is None:
        return []
    block = inner.find("block")
    value = ["Ingress", "Egress"] if block is None else block.value
    directions = [str(each) for each in value] if isinstance(value, list) else str(value).replace(",", " ").split()
    if block is not None:
        block.map(", ".join(directions))
    return _map_each(context, inner, found, [f"application_outage.{each}" for each in directions])


def _map_containers(context: ImportContext, node: InputNode) -> _MappedFaults:
    """Map container scenarios. The same field also holds scenarios that delete namespaces."""
    faults: _MappedFaults = []
    for each in node.list_nodes("scenarios"):
        data = each.value if isinstance(each.value, dict) else {}
        if "delete_count" in data or ("runs" in data and "action" not in data):
            each.refuse(KRKN["namespace_deletion"].because)
            continue
        if "scenario" in data:
            name = str(data["scenario"])
            known = KRKN.get(name) or describe_unknown(name)
            each.refuse(known.because, known.fix)
            continue
        if (head := each.find("name")) is not None:
            head.refuse("a fault is named by its type")
        faults += _map_mechanism_at(context, each, "container_scenarios")
    return faults


def _map_clocks(context: ImportContext, node: InputNode) -> _MappedFaults:
    faults: _MappedFaults = []
    for each in node.list_nodes("time_scenarios"):
        if each.read_text("object_type") == "node":
            each.refuse("the target is a node; clock-skew targets a workload")
            continue
        action, kind = each.find("action"), each.find("object_type")
        mechanism = KRKN.get(each.read_text("action"))
        if action is None or mechanism is None:
            each.refuse("no fault is known for this action")
            continue
        if kind is not None:
            kind.take("the pods of a workload")
        action.guess(f"type: {mechanism.fault}", mechanism.because)
        faults += _map_mechanism_at(context, each, str(action.value))
    return faults


def _map_volume(context: ImportContext, node: InputNode) -> _MappedFaults:
    inner = _find_inner(node, "pvc_scenario")
    if inner is None:
        return []
    if (part := inner.find("block_size")) is not None:
        part.refuse("the fault chooses the size of blocks")
    return _map_mechanism_at(context, inner, "pvc_scenario")


_FORMS: Final[dict[str, Callable[[ImportContext, InputNode], _MappedFaults]]] = {
    "application_outage": _map_application_outage,
    "scenarios": _map_containers,
    "time_scenarios": _map_clocks,
    "pvc_scenario": _map_volume,
}
