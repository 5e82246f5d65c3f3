"""Truths and answers that the tests of scoring share."""

from __future__ import annotations

from hypothesis import settings

from scenario_kit.scoring.entities.truth import IncidentTruth, TruthGroup
from scenario_kit.scoring.matching.matcher import MatchDecision, build_truth_index, match_claims
from scenario_kit.scoring.matching.policy import MatchPolicy

STRICT = MatchPolicy(duplicates="penalise", aliases="penalise")
#: Of properties; how long an example takes says nothing on a machine with other work.
PROPERTY = settings(deadline=None, max_examples=60)
DEFAULT = MatchPolicy()
LENIENT = MatchPolicy(duplicates="ignore", aliases="merge")


def group(id: str, reference: str, *patterns: str, root: bool = False) -> TruthGroup:
    """A group of ``[namespace/]Kind[/name]``, or of patterns."""
    parts = reference.split("/")
    namespace = parts.pop(0) if parts[0].islower() else ""
    return TruthGroup(id=id, kind=parts[0], namespace=namespace, names=tuple(parts[1:]), patterns=patterns, root=root)


def roots(*names: str) -> IncidentTruth:
    """Build a truth whose roots are Deployments of these names in the namespace ``shop``."""
    return IncidentTruth(incident="one", groups=tuple(group(n, f"shop/Deployment/{n}", root=True) for n in names))


def decide(truth: IncidentTruth, *claims: str, policy: MatchPolicy = DEFAULT) -> tuple[MatchDecision, ...]:
    """Decide on claims; a bare name stands for a Deployment in ``shop``."""
    texts = [claim if "/" in claim else f"shop/Deployment/{claim}" for claim in claims]
    return match_claims(build_truth_index(truth), texts, policy)
