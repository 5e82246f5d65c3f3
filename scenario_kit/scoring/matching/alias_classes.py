"""Alias classes: groups of the ground truth that count as one, by union-find over declared aliases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from scenario_kit.scoring.entities.truth import TruthGroup


class AliasClass(msgspec.Struct, frozen=True):
    """Groups that count as one answer; a root if any of them is. The id is that of its first root, else first group."""

    id: str
    groups: tuple[TruthGroup, ...]
    root: bool

    @property
    def declared(self) -> bool:
        """Return whether aliases are declared, so that another kind may denote the same entity."""
        return len(self.groups) > 1 or len(self.groups[0].names) > 1


def build_alias_classes(groups: Sequence[TruthGroup], aliases: Iterable[Sequence[str]]) -> tuple[AliasClass, ...]:
    """Build the classes in the order of their first groups; unknown ids in aliases are ignored."""
    known = {group.id for group in groups}
    parent = {group.id: group.id for group in groups}
    for ids in aliases:
        members = [each for each in ids if each in known]
        for other in members[1:]:
            parent[_find_representative(parent, other)] = _find_representative(parent, members[0])
    classes: dict[str, list[TruthGroup]] = {}
    for group in groups:
        classes.setdefault(_find_representative(parent, group.id), []).append(group)
    return tuple(_build_class(members) for members in classes.values())


def _find_representative(parent: dict[str, str], id: str) -> str:
    while parent[id] != id:
        parent[id] = parent[parent[id]]
        id = parent[id]
    return id


def _build_class(members: Sequence[TruthGroup]) -> AliasClass:
    roots = [group for group in members if group.root]
    return AliasClass(id=(roots or members)[0].id, groups=tuple(members), root=bool(roots))
