"""Compare ITBench ground truths (v1 and v2) with the ground truth of the draft.

A draft's truth follows from its faults and the app's call graph. Claims beyond that are refused until a trial has
shown them.
"""

from __future__ import annotations

from typing import Any, Final

from scenario_kit.draft import Draft
from scenario_kit.importers.ledger import InputNode
from scenario_kit.importers.targets import find_component, read_pattern
from scenario_kit.model import App
from scenario_kit.model.kubernetes.reference import WORKLOADS

_SHOWN: Final = "`scenario-kit try PATH --accept` records the alerts that fire"
#: Fields in prose, and fields that follow from others.
_UNSUPPORTED: Final = {
    "aliases": "owned objects are aliases of their owner; for others, write `groundTruth.rootCauses[].aliases`",
    "fault": "the scenario declares the injection",
    "recommended_actions": "prose; the fault has executable solutions",
    "recommendedActions": "prose; the fault has executable solutions",
    "solutions": "commands for operators; the fault has executable solutions",
    "kubernetes": "trials judge this by `Resolved`",
    "opa": "compliance checks are not supported",
}


def is_truth(data: Any) -> bool:
    """Return whether a document is a ground truth of ITBench."""
    if not isinstance(data, dict):
        return False
    return data.get("kind") == "GroundTruth" or ("groups" in data and "propagations" in data)


def refuse_truth(node: InputNode, reason: str) -> None:
    """Refuse a whole ground truth."""
    node.refuse(reason, "write the draft's `groundTruth` by hand")


def compare_truth(node: InputNode, made: Draft, app: App) -> None:
    """Compare a ground truth with that of a draft."""
    for steps in (("apiVersion",), ("kind",), ("metadata", "name")):
        if (part := node.find(*steps)) is not None:
            part.take("the format")
    body = node.find("spec") if isinstance(node.value.get("spec"), dict) else node
    assert body is not None
    for name, reason in _UNSUPPORTED.items():
        if (part := body.find(name)) is not None:
            part.refuse(reason)
    places = {group.read_text("id"): _find_place(group, app) for group in body.list_nodes("groups")}
    for group in body.list_nodes("groups"):
        _decide_group(group, places.get(group.read_text("id"), ""), made)
    for entity in body.list_nodes("entities"):
        _decide_entity(entity, app, made)
    edges = {(edge["from"], edge["to"]) for edge in made.spec.get("groundTruth", {}).get("propagation", ())}
    for edge in body.list_nodes("propagations"):
        ends = tuple(places.get(edge.read_text(name), "") for name in ("source", "target"))
        if ends in edges or (ends[0] == ends[1] and ends[0]):
            edge.take("groundTruth.propagation")
        else:
            edge.refuse("the app's call graph predicts no such edge", _SHOWN)
    _decide_alerts(body, places, made)


def _decide_alerts(body: InputNode, places: dict[str, str], made: Draft) -> None:
    expected = {(each.name, each.entity or ""): each.alert_class for each in made.alerts}
    for alert in body.list_nodes("alerts"):
        name = alert.read_text("id") or alert.read_text("name")
        place = places.get(alert.read_text("group_id"), "")
        anywhere = [c for (n, _), c in expected.items() if n == name and not place]
        found = expected.get((name, place)) or next(iter(anywhere), None)
        if found:
            alert.take(f"expect.alerts: {name} on {place or 'any'} ({found})")
        else:
            alert.refuse(f"no fault of the draft is certain to raise it on {place or 'any entity'}", _SHOWN)


def _find_place(group: InputNode, app: App) -> str:
    """Find the workload that a group of objects belongs to; empty if it is not in the app."""
    names = [str(each.value) for each in group.list_nodes("filter")] or [group.read_text("filter")]
    names.append(group.read_text("name"))
    found = (find_component(app, read_pattern(name)) for name in names if name)
    return next((component.workload for component in found if component is not None), "")


def _decide_group(group: InputNode, place: str, made: Draft) -> None:
    root = group.find("root_cause")
    if root is not None and root.value is True:
        _decide_cause(group, group.read_text("kind"), place, made)
    elif place:
        group.map(place)
    else:
        group.refuse("the app has no corresponding object")


def _decide_entity(entity: InputNode, app: App, made: Draft) -> None:
    kind, name = entity.read_text("kind"), entity.read_text("metadata", "name")
    component = find_component(app, name)
    _decide_cause(entity, kind, component.workload if component and kind in WORKLOADS else f"{kind}/{name}", made)


def _decide_cause(node: InputNode, kind: str, place: str, made: Draft) -> None:
    """Compare a root cause with those of the draft."""
    causes = made.spec.get("groundTruth", {}).get("rootCauses", ())
    own = [str(cause.get("entity", "")) for cause in causes]
    if place and place in own:
        node.take(f"groundTruth.rootCauses: {place}")
    elif (kind == "Schedule" or kind.endswith("Chaos")) and "" in own:
        node.map("groundTruth.rootCauses: the object that the fault creates")
    else:
        named = ", ".join(dict.fromkeys(each or "an object that the fault creates" for each in own)) or "none"
        node.refuse(f"the draft's cause is {named}", "compare the two, and correct the draft if necessary")
