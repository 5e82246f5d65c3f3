"""Read and write ITBench ground truths: ``itbench.io/v1`` (wrapped or flat) and ``v2``.

Published files contain dangling ids, nulls and invalid patterns, which are ignored with a warning. The rest is scored
only if every root can still be named.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from scenario_kit.model.shortening import shorten_text
from scenario_kit.scoring.entities.truth import CausalEdge, FinopsResource, IncidentTruth, TruthGroup
from scenario_kit.scoring.files.fields import Fields
from scenario_kit.scoring.matching.fit import is_usable

V1: Final = "itbench.io/v1"
V2: Final = "itbench.io/v2"


def is_itbench_truth(data: Any) -> bool:
    """Return whether a document is an ITBench ground truth."""
    if not isinstance(data, dict):
        return False
    return data.get("kind") == "GroundTruth" or "groups" in data or isinstance(data.get("resource"), list)


def read_itbench_truth(document: Fields, incident: str) -> IncidentTruth:
    """Read a truth of either version; ``incident`` is its default name."""
    body = document.read_object("spec") if "spec" in document else document
    assert body is not None  # it is there
    metadata = document.read_object("metadata") if document.data.get("kind") == "GroundTruth" else None
    name = incident or (metadata.read_text("name", numbers=True) if metadata else "")
    return _read_v2(body, name) if "entities" in body and "groups" not in body else _read_v1(body, name)


def build_truth_v1(truth: IncidentTruth) -> dict[str, Any]:
    """Build a version 1 document."""
    spec = {
        "groups": [_build_group(group) for group in truth.groups],
        "aliases": [list(ids) for ids in truth.aliases],
        "propagations": [
            {"source": edge.source, "target": edge.target, "condition": edge.condition, "effect": edge.effect}
            for edge in truth.edges
        ],
        "alerts": [{"id": name} for name in dict.fromkeys(truth.alerts)],
    }
    return {"apiVersion": V1, "kind": "GroundTruth", "metadata": {"name": truth.incident}, "spec": spec}


def build_truth_v2(truth: IncidentTruth) -> dict[str, Any]:
    """Build a version 2 document, which has no roles and therefore lists only the root causes.

    Objects given only by a pattern have no name and are omitted.
    """
    entities = [
        {"kind": group.kind, "metadata": {"name": name} | ({"namespace": group.namespace} if group.namespace else {})}
        for group in truth.groups if group.root for name in group.names
    ]  # fmt: skip
    spec = {"alerts": [{"name": name, "labels": {}} for name in dict.fromkeys(truth.alerts)], "entities": entities}
    return {"apiVersion": V2, "kind": "GroundTruth", "metadata": {"name": truth.incident}, "spec": spec}


def _read_v1(body: Fields, incident: str) -> IncidentTruth:
    groups = [group for each in body.read_list("groups") if (group := _read_group(each)) is not None]
    seen: set[str] = set()
    for group in groups:
        if group.id in seen:
            body.refuse("groups", f"duplicate group id '{shorten_text(group.id)}'", "unique ids", "rename one")
        seen.add(group.id)
    edges = tuple(edge for each in body.read_list("propagations") if (edge := _read_edge(each, seen)) is not None)
    aliases = _read_aliases(body, seen)
    _warn_of_loose_ends(body, groups, edges, aliases)
    return IncidentTruth(
        incident=incident, groups=tuple(groups), aliases=aliases, edges=edges,
        alerts=tuple(filter(None, (alert.read_text("id") for alert in body.read_list("alerts")))),
        resources=tuple(
            FinopsResource(name=each.read_text("name", required=True), type=each.read_text("type", required=True))
            for each in body.read_list("resource")
        ),
    )  # fmt: skip


def _read_group(field: Fields) -> TruthGroup | None:
    id = field.read_text("id", numbers=True)
    if not id:
        field.warn("id", f"`{field.spell()}` has no id and is ignored", "add an id")
        return None
    kind = field.read_text("kind")
    if not kind:
        field.warn("kind", f"group '{shorten_text(id)}' has no kind and is ignored", "add a kind")
        return None
    names = tuple(field.read_texts("name"))
    patterns = field.read_texts("filter")
    for pattern in patterns:
        if not is_usable(pattern):
            message = f"invalid pattern '{shorten_text(pattern)}' of group '{shorten_text(id)}'"
            field.warn("filter", message, "write a regular expression in RE2 syntax, or use `name`")
    return TruthGroup(
        id=id, kind=kind, namespace=field.read_text("namespace"), names=names,
        patterns=tuple(pattern for pattern in patterns if is_usable(pattern)), root=field.read_flag("root_cause"),
    )  # fmt: skip


def _read_edge(field: Fields, known: set[str]) -> CausalEdge | None:
    ends = {name: field.read_text(name, numbers=True) for name in ("source", "target")}
    for name, id in ends.items():
        if id not in known:
            message = f"`{field.spell(name)}` is not the id of a group: '{shorten_text(id)}'; the edge is ignored"
            field.warn(name, message, "use the id of a group")
    if not set(ends.values()) <= known:
        return None
    return CausalEdge(**ends, condition=field.read_text("condition"), effect=field.read_text("effect"))


def _read_aliases(body: Fields, known: set[str]) -> tuple[tuple[str, ...], ...]:
    aliases = []
    for i, ids in enumerate(body.read_values("aliases")):
        if not isinstance(ids, list):
            body.refuse(
                "aliases", f"`{body.spell('aliases', i)}` is not a list", "a list of ids", "write a list of ids"
            )
            continue
        texts = [str(id) for id in ids]  # ids may be written as numbers
        for id in texts:
            if id not in known:
                message = f"`{body.spell('aliases', i)}` has an unknown group id '{shorten_text(id)}', which is ignored"
                body.warn("aliases", message, "use the id of a group")
        aliases.append(tuple(id for id in texts if id in known))
    return tuple(aliases)


def _warn_of_loose_ends(
    body: Fields, groups: Sequence[TruthGroup], edges: Sequence[CausalEdge], aliases: Sequence[Sequence[str]]
) -> None:
    """Warn of edges whose source is neither a root, an alias of one, nor the target of another edge."""
    reached = {group.id for group in groups if group.root} | {edge.target for edge in edges}
    reached |= {id for ids in aliases if reached & set(ids) for id in ids}
    for edge in edges:
        if edge.source not in reached:
            message = f"a propagation starts at '{edge.source}', which is neither a root nor affected by one"
            body.warn("propagations", message, "start at a root, or add the edge that leads there")


def _read_v2(body: Fields, incident: str) -> IncidentTruth:
    """Read version 2, in which every object is a root; duplicates are dropped."""
    groups = []
    for each in body.read_list("entities", required=True):
        metadata = each.read_object("metadata") or Fields(each.mistakes, (*each.place, "metadata"), {})
        kind, name = each.read_text("kind", required=True), metadata.read_text("name", required=True)
        namespace = metadata.read_text("namespace")
        id = "/".join(part for part in (namespace, kind, name) if part)
        groups.append(TruthGroup(id=id, kind=kind, namespace=namespace, names=(name,), root=True))
    alerts = tuple(alert.read_text("name") for alert in body.read_list("alerts"))
    return IncidentTruth(
        incident=incident,
        groups=tuple({group.id: group for group in groups}.values()),
        alerts=tuple(filter(None, alerts)),
    )


def _build_group(group: TruthGroup) -> dict[str, Any]:
    built: dict[str, Any] = {"id": group.id, "kind": group.kind}
    if group.namespace:
        built["namespace"] = group.namespace
    if group.patterns:
        built["filter"] = list(group.patterns)
    if group.names:
        built["name"] = group.names[0] if len(group.names) == 1 else list(group.names)
    return built | ({"root_cause": True} if group.root else {})
