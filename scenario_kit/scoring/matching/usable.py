"""Usability of a ground truth: every root must have an object that an answer can name."""

from __future__ import annotations

from scenario_kit.scoring.entities.truth import IncidentTruth
from scenario_kit.scoring.matching.alias_classes import AliasClass, build_alias_classes
from scenario_kit.scoring.matching.fit import is_usable


def find_unreachable_roots(truth: IncidentTruth) -> tuple[AliasClass, ...]:
    """Find the roots that no name can match because they have neither names nor valid patterns."""
    classes = build_alias_classes(truth.groups, truth.aliases)
    return tuple(
        each for each in classes
        if each.root and not any(group.names or any(map(is_usable, group.patterns)) for group in each.groups)
    )  # fmt: skip
