"""Contraction of paths: a workload, its pods and its Service form one component; other kinds remain separate."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from scenario_kit.scoring.entities.name import WORKLOAD_KINDS, EntityName, list_stems, parse_entity_name
from scenario_kit.scoring.entities.truth import TruthGroup
from scenario_kit.scoring.matching.alias_classes import AliasClass
from scenario_kit.scoring.matching.fit import relax_pattern
from scenario_kit.scoring.matching.matcher import TruthIndex, fit_entity

_ENDS: Final = re.compile(r"\\b|[\^$]|\(-\.\*\)\?|\.\*")
_PLAIN: Final = re.compile(r"[a-zA-Z0-9][-a-zA-Z0-9.]*")


def label_entity(index: TruthIndex, text: str) -> str:
    """Return the component of a name in an answer: that of the class it matches, else its own."""
    entity = parse_entity_name(text)
    if entity is None:
        return text.strip()
    ids = fit_entity(index, entity).class_ids
    if len(ids) == 1:
        return label_class(next(each for each in index.classes if each.id == ids[0]))
    label = _label_object(entity)
    same = [each for each in index.classes if label_class(each) == label]
    elsewhere = any(entity.namespace and each.groups[0].namespace not in ("", entity.namespace) for each in same)
    return f"{entity.namespace}/{label}" if elsewhere else label


@lru_cache(maxsize=4096)  # every run of an incident asks for the same few classes, several times
def label_class(alias_class: AliasClass) -> str:
    """Return the component of a class: that of its first root, else of its first group."""
    return _label_group(next((group for group in alias_class.groups if group.root), alias_class.groups[0]))


def contract(labels: list[str]) -> list[str]:
    """Drop consecutive repeats."""
    return [label for i, label in enumerate(labels) if i == 0 or labels[i - 1] != label]


def _label_group(group: TruthGroup) -> str:
    if group.names:
        return _label_object(EntityName(group.kind, group.names[0]))
    for pattern in group.patterns:
        plain = _ENDS.sub("", relax_pattern(pattern) or pattern)
        if _PLAIN.fullmatch(plain):
            return _label_object(EntityName(group.kind, plain))
    return group.id


def _label_object(entity: EntityName) -> str:
    if entity.kind.lower() not in WORKLOAD_KINDS:
        return f"{entity.kind.lower()}/{entity.name}"
    return next(iter(list_stems(entity)), entity.name)
