"""Match decisions: for each claim, the class of the ground truth that it denotes, the rule and the reason.

A claim that matches two classes equally well is ambiguous and counts for neither. Scores are computed from decisions,
so that they can be recomputed without matching again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Literal

import msgspec

from scenario_kit.model.base import Value
from scenario_kit.scoring.entities.name import EntityName, parse_entity_name
from scenario_kit.scoring.entities.truth import IncidentTruth, TruthGroup
from scenario_kit.scoring.matching.alias_classes import AliasClass, build_alias_classes
from scenario_kit.scoring.matching.fit import FitRule, fit_alias, fit_own_kind, fit_relaxed, fit_schedule
from scenario_kit.scoring.matching.policy import MatchPolicy

MatchVerdict = Literal[
    "RootCause", "OtherEntity", "Duplicate", "Alias", "Unmatched", "Ambiguous", "Unreadable", "Ignored"
]
_Fit = Callable[[EntityName, TruthGroup], FitRule | None]
#: Match rules, strongest first, and whether each requires declared aliases.
_TIERS: Final[tuple[tuple[_Fit, bool], ...]] = (
    (fit_own_kind, False), (fit_alias, True), (fit_relaxed, False), (fit_schedule, False),
)  # fmt: skip


class MatchDecision(Value, frozen=True, kw_only=True):
    """The decision on one claim. ``group`` and ``class_id`` are of the truth; ``candidates`` lists matching classes."""

    claim: str
    verdict: MatchVerdict
    reason: str
    group: str = ""
    class_id: str = ""
    rule: FitRule | None = None
    candidates: tuple[str, ...] = ()


class Fitting(msgspec.Struct, frozen=True):
    """The groups that a name matches, by the strongest rule that matches any."""

    groups: tuple[tuple[AliasClass, TruthGroup, FitRule], ...] = ()

    @property
    def class_ids(self) -> tuple[str, ...]:
        """Return the classes of these groups; more than one if the name is ambiguous."""
        return tuple(dict.fromkeys(each.id for each, _, _ in self.groups))


class TruthIndex(msgspec.Struct, frozen=True):
    """The ground truth, indexed for many answers. ``fittings`` caches matches."""

    truth: IncidentTruth
    classes: tuple[AliasClass, ...]
    fittings: dict[EntityName, Fitting] = {}

    @property
    def roots(self) -> tuple[AliasClass, ...]:
        """Return the classes that an answer must name."""
        return tuple(each for each in self.classes if each.root)


def build_truth_index(truth: IncidentTruth) -> TruthIndex:
    """Build the index of a ground truth."""
    return TruthIndex(truth, build_alias_classes(truth.groups, truth.aliases))


def fit_entity(index: TruthIndex, entity: EntityName) -> Fitting:
    """Find the groups that a name matches; a weaker rule is only tried if no stronger one matches."""
    if entity not in index.fittings:
        index.fittings[entity] = _fit_entity(index, entity)
    return index.fittings[entity]


def _fit_entity(index: TruthIndex, entity: EntityName) -> Fitting:
    for fit, needs_aliases in _TIERS:
        found = tuple(
            (each, group, rule)
            for each in index.classes
            if each.declared or not needs_aliases
            for group in each.groups
            if (rule := fit(entity, group)) is not None
        )
        if found:
            return Fitting(found)
    return Fitting()


def match_claims(index: TruthIndex, claims: Iterable[str], policy: MatchPolicy) -> tuple[MatchDecision, ...]:
    """Decide on each claim of an answer, in order."""
    decisions: list[MatchDecision] = []
    seen: dict[tuple[str, ...], str] = {}
    for claim in claims:
        decisions.append(_decide(index, claim, policy, seen))
    return tuple(decisions)


def _decide(index: TruthIndex, claim: str, policy: MatchPolicy, seen: dict[tuple[str, ...], str]) -> MatchDecision:
    """Decide on one claim; ``seen`` maps claimed objects, groups and classes to their first claim."""
    entity = parse_entity_name(claim)
    spelling = ("object", *(entity.key if entity else (claim.strip(),)))
    if spelling in seen:
        return MatchDecision(claim=claim, verdict="Duplicate", reason=f"names the same object as {seen[spelling]!r}")
    seen[spelling] = claim
    if entity is None:
        return MatchDecision(claim=claim, verdict="Unreadable", reason="is not in the form namespace/Kind/name")
    fitting = fit_entity(index, entity)
    ids = fitting.class_ids
    if len(ids) > 1:
        return MatchDecision(
            claim=claim, verdict="Ambiguous", reason=f"matches {len(ids)} entities of the ground truth", candidates=ids
        )
    if not ids:
        return _decide_unmatched(claim, entity, policy)
    return _decide_matched(claim, fitting, seen)


def _decide_unmatched(claim: str, entity: EntityName, policy: MatchPolicy) -> MatchDecision:
    if entity.namespace in policy.ignored_namespaces:
        return MatchDecision(claim=claim, verdict="Ignored", reason=f"namespace {entity.namespace} is ignored")
    return MatchDecision(claim=claim, verdict="Unmatched", reason="matches no entity of the ground truth")


def _decide_matched(claim: str, fitting: Fitting, seen: dict[tuple[str, ...], str]) -> MatchDecision:
    """Decide on a claim that matches one class; the first claim counts, later ones are duplicates or aliases."""
    matched, group, rule = fitting.groups[0]
    direct = rule in ("Name", "Pattern")
    verdict: MatchVerdict = "RootCause" if matched.root else "OtherEntity"
    reason = f"matches {group.id} by {rule.lower()}" + ("" if matched.root else ", which is not a root cause")
    if direct and ("group", group.id) in seen:
        verdict, reason = "Duplicate", f"names {group.id}, like {seen['group', group.id]!r}"
    elif ("class", matched.id) in seen:
        verdict, reason = "Alias", f"names {matched.id} by a different object than {seen['class', matched.id]!r}"
    seen.setdefault(("class", matched.id), claim)
    if direct:
        seen.setdefault(("group", group.id), claim)
    return MatchDecision(
        claim=claim, verdict=verdict, reason=reason, group=group.id, class_id=matched.id, rule=rule,
        candidates=(matched.id,),
    )  # fmt: skip
