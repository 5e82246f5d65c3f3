"""Map selectors of Chaos Mesh (https://chaos-mesh.org/docs/define-chaos-experiment-scope/) to components of an app."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from scenario_kit.importers.formats.context import ImportContext, explain_chosen_target
from scenario_kit.importers.ledger import InputNode
from scenario_kit.importers.targets import find_component
from scenario_kit.model import App, Component

#: Maximum number of workloads that a selector may match; a broader one is probably not about these workloads.
MAX_WORKLOADS: Final = 4
#: Suffixes of pod names: of ReplicaSet and pod, or the ordinal of a StatefulSet.
_GENERATED: Final = re.compile(r"-[a-f0-9]{6,10}-[a-z0-9]{5}$|-[0-9]{1,3}$")
#: Fields that identify workloads.
SELECTING: Final = ("labelSelectors", "pods", "expressionSelectors")
_UNSUPPORTED: Final = (
    "annotationSelectors", "fieldSelectors", "podPhaseSelectors", "nodes", "nodeSelectors", "physicalMachines",
)  # fmt: skip


class PodSelection(NamedTuple):
    """A pod selector: namespaces, labels, and possible workload names from pod names and label values."""

    node: InputNode | None
    namespaces: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ()


def read_selection(node: InputNode | None) -> PodSelection:
    """Read a selector; refuse fields that do not identify workloads."""
    if node is None or not isinstance(node.value, dict):
        return PodSelection(node)
    for name in _UNSUPPORTED:
        if (part := node.find(name)) is not None:
            part.refuse("a fault is aimed at a workload, regardless of the state and node of its pods")
    namespaces = [str(each.value) for each in node.list_nodes("namespaces")]
    labels_node = node.find("labelSelectors")
    labels = labels_node.value.items() if labels_node is not None and isinstance(labels_node.value, dict) else ()
    names = [str(value) for _, value in labels]
    pods = node.find("pods")
    if pods is not None and isinstance(pods.value, dict):
        namespaces += [str(key) for key in pods.value]
        listed = [str(pod) for group in pods.value.values() if isinstance(group, list) for pod in group]
        names += dict.fromkeys(_GENERATED.sub("", pod) for pod in listed)
    for each in node.list_nodes("expressionSelectors"):
        if each.read_text("operator") == "In":
            names += [str(value.value) for value in each.list_nodes("values")]
        else:
            each.refuse("only expressions with operator In identify a workload")
    pairs = tuple((str(key), str(value)) for key, value in labels)
    return PodSelection(node, tuple(dict.fromkeys(namespaces)), pairs, tuple(dict.fromkeys(names)))


def _guess_target(selection: PodSelection, app: App, chosen: Component) -> None:
    """Aim at the chosen component instead of what a selector names."""
    node, why = selection.node, explain_chosen_target(app, selection.names)
    parts = [] if node is None else [part for name in SELECTING if (part := node.find(name)) is not None]
    for part in parts:
        part.guess(f"target: {chosen.workload}", why)
    if node is not None and not parts:
        node.report_guess(f"target: {chosen.workload}", why)
    if node is not None and (part := node.find("namespaces")) is not None:
        part.map(f"app: {app.name}")


def select_components(
    context: ImportContext, app: App, selection: PodSelection, chosen: Component | None = None
) -> list[Component]:
    """Select the matching components, with decisions about the parts of the selector; none if that is ambiguous.

    ``chosen`` is the component to aim at if none matches.
    """
    found = context.finder.find_by_labels(app, dict(selection.labels)) if selection.labels else []
    exact = bool(found)
    if not found:
        named = [find_component(app, name) for name in selection.names]
        found = list({each.name: each for each in named if each is not None}.values())
    node = selection.node
    if chosen is not None and not found:
        _guess_target(selection, app, chosen)
        return [chosen]
    if node is None or not found or len(found) > MAX_WORKLOADS:
        if node is not None and len(found) > MAX_WORKLOADS:
            node.report_refusal(f"it selects {len(found)} workloads", f"select at most {MAX_WORKLOADS}")
        return []
    target = ", ".join(each.workload for each in found)
    for name in SELECTING:
        part = node.find(name)
        if part is not None and part.value:
            by = "labels" if exact and name == "labelSelectors" else "name"
            part.map(f"target: {target}", f"by {by}")
    if (part := node.find("namespaces")) is not None:
        part.map(f"app: {app.name}")
    return found
