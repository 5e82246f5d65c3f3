"""How well a name fits a group of the truth: exactly, through an alias, or with its generated suffix dropped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Literal

from scenario_kit.model.kubernetes.re2 import compile_pattern
from scenario_kit.scoring.entities.name import CLUSTER_SCOPED, WORKLOAD_KINDS, EntityName, list_stems
from scenario_kit.scoring.entities.truth import TruthGroup

#: Ways to fit, the strongest first; a weaker one counts only where no stronger one does.
FitRule = Literal["Name", "Pattern", "Alias", "Relaxed", "Schedule"]
#: The ends of patterns that stand for what Kubernetes generates.
_SUFFIX: Final = re.compile(r"-(?:\.[*+]|\[[^\]]+\](?:[*+]|\{[\d,]+\})?(?:-\[[^\]]+\](?:[*+]|\{[\d,]+\})?)?)\$?$")
_SCHEDULED: Final = ("chaos", "workflow")


def fit_own_kind(entity: EntityName, group: TruthGroup) -> FitRule | None:
    """Fit a name to a group of its own kind: an equal name, or a pattern that matches all of it."""
    if entity.kind.lower() != group.kind.lower() or not shares_namespace(entity, group):
        return None
    if entity.name in group.names:
        return "Name"
    return "Pattern" if matches_any(entity.name, group.patterns) else None


def fit_alias(entity: EntityName, group: TruthGroup) -> FitRule | None:
    """Fit a workload, a pod or a Service to another of these kinds, of a class with declared aliases.

    Here, and only here, generated suffixes of the name are dropped.
    """
    if not {entity.kind.lower(), group.kind.lower()} <= WORKLOAD_KINDS or not shares_namespace(entity, group):
        return None
    names = (entity.name, *list_stems(entity))
    known = (*group.patterns, *filter(None, map(relax_pattern, group.patterns)))
    return "Alias" if any(name in group.names or matches_any(name, known) for name in names) else None


def fit_relaxed(entity: EntityName, group: TruthGroup) -> FitRule | None:
    """Fit a name to a root whose pattern demands a generated suffix, without it (``x-.*`` also means ``x``)."""
    kinds = {entity.kind.lower(), group.kind.lower()}
    if not group.root or not (len(kinds) == 1 or kinds <= WORKLOAD_KINDS) or not shares_namespace(entity, group):
        return None
    return "Relaxed" if matches_any(entity.name, filter(None, map(relax_pattern, group.patterns))) else None


def fit_schedule(entity: EntityName, group: TruthGroup) -> FitRule | None:
    """Fit a Schedule of Chaos Mesh to the experiment that it spawned (``<schedule>-<suffix>``), and the reverse."""
    if not shares_namespace(entity, group):
        return None
    kinds = entity.kind.lower(), group.kind.lower()
    if kinds[0] == "schedule" and kinds[1].endswith(_SCHEDULED):
        relaxed = [*group.patterns, *filter(None, map(relax_pattern, group.patterns))]
        spawned = any(name == entity.name or _drop_suffix(name) == entity.name for name in group.names)
        return "Schedule" if spawned or matches_any(entity.name, relaxed) else None
    if kinds[1] == "schedule" and kinds[0].endswith(_SCHEDULED):
        schedule = _drop_suffix(entity.name)
        named = any(name in group.names or matches_any(name, group.patterns) for name in (entity.name, schedule))
        return "Schedule" if named else None
    return None


def shares_namespace(entity: EntityName, group: TruthGroup) -> bool:
    """Return whether the namespaces agree: where both name one they are equal, and some kinds have none."""
    if group.kind.lower() in CLUSTER_SCOPED or not entity.namespace or not group.namespace:
        return True
    return entity.namespace == group.namespace


def matches_any(name: str, patterns: Iterable[str]) -> bool:
    """Return whether one of the patterns matches the whole name. One that cannot be compiled matches nothing."""
    return any(is_usable(pattern) and compile_pattern(pattern).matches(name) for pattern in patterns)


@lru_cache(maxsize=4096)
def is_usable(pattern: str) -> bool:
    """Return whether a pattern can be compiled."""
    try:
        compile_pattern(pattern)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=4096)
def relax_pattern(pattern: str) -> str:
    """Return the pattern without the generated suffix that it demands; empty where it demands none."""
    relaxed = _SUFFIX.sub("", pattern)
    return relaxed if relaxed != pattern and relaxed.strip("^") else ""


def _drop_suffix(name: str) -> str:
    return re.sub(r"-[a-z0-9]{5}$", "", name)
