"""Whether a truth can be scored at all: every root needs an object that some answer could name."""

from __future__ import annotations

from scenario_kit.scoring.entities.truth import IncidentTruth
from scenario_kit.scoring.matching.alias_classes import AliasClass, build_alias_classes
from scenario_kit.scoring.matching.fit import is_usable


def find_unreachable_roots(truth: IncidentTruth) -> tuple[AliasClass, ...]:
    """Find the roots that no name can fit, because they have none and no pattern of theirs compiles."""
    classes = build_alias_classes(truth.groups, truth.aliases)
    return tuple(
        each for each in classes
        if each.root and not any(group.names or any(map(is_usable, group.patterns)) for group in each.groups)
    )  # fmt: skip
