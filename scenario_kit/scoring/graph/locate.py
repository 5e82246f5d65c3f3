"""Map classes of the ground truth and names in answers to topology nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from scenario_kit.scoring.entities.name import WORKLOAD_KINDS, EntityName, list_stems, parse_entity_name
from scenario_kit.scoring.graph.components import label_class
from scenario_kit.scoring.graph.topology import Topology, TopologyNode
from scenario_kit.scoring.matching.alias_classes import AliasClass
from scenario_kit.scoring.matching.fit import fit_own_kind
from scenario_kit.scoring.matching.matcher import TruthIndex, fit_entity


class Locator:
    """Finds nodes by kind and name; in a graph without kinds, by name.

    A class of the ground truth maps to the first of its objects that is in the graph.
    """

    def __init__(self, topology: Topology, index: TruthIndex) -> None:
        self._index = index
        self.topology: Final = topology
        self.names: Final = frozenset(node.name for node in topology.nodes.values())
        self._nodes: dict[str, dict[str, list[TopologyNode]]] = {}
        for node in topology.nodes.values():
            self._nodes.setdefault(node.kind.lower(), {}).setdefault(node.name, []).append(node)
        self._classes = {each.id: self._place(each) for each in index.classes}

    def list_classes(self, ids: Iterable[str]) -> list[str]:
        """List the nodes of classes; a class outside the graph gets a unique placeholder."""
        return list(dict.fromkeys(self._classes[id] for id in ids))

    def locate(self, text: str) -> str:
        """Return the node of a name in an answer: that of the class it matches, its own, or a placeholder."""
        entity = parse_entity_name(text)
        if entity is None:
            return f"?{text.strip()}"
        ids = fit_entity(self._index, entity).class_ids
        if len(ids) == 1:
            return self._classes[ids[0]]
        names = [entity.name, *(list_stems(entity) if entity.kind.lower() in WORKLOAD_KINDS else ())]
        found = [node for name in names for node in self._find(entity, name)]
        return found[0] if found else f"?{entity}"

    def locate_all(self, texts: Sequence[str]) -> list[str]:
        """Return the nodes of several names, in order."""
        return [self.locate(text) for text in texts]

    def _find(self, entity: EntityName, name: str) -> Iterator[str]:
        """Find nodes by kind and name, then nodes without a kind."""
        kind = entity.kind.lower()
        if name == entity.name:
            for node in self._nodes.get(kind, {}).get(name, ()):
                if not (entity.namespace and node.namespace) or node.namespace == entity.namespace:
                    yield node.id
        if kind in WORKLOAD_KINDS:
            yield from (node.id for node in self._nodes.get("", {}).get(name, ()))

    def _place(self, each: AliasClass) -> str:
        """Return the node of a class: the first object of its groups, roots first, else the node with its name."""
        for group in sorted(each.groups, key=lambda group: not group.root):
            of_kind = self._nodes.get(group.kind.lower(), {})
            likely = (of_kind.get(name, []) for name in (group.names if not group.patterns else of_kind))
            for node in (node for nodes in likely for node in nodes):
                if fit_own_kind(EntityName(node.kind, node.name, node.namespace), group):
                    return node.id
        named = self._nodes.get("", {}).get(label_class(each), ())
        return next((node.id for node in named), f"!{each.id}")
