"""Recall-gated precision, precision, recall and F1, of all claims and of the first k."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from scenario_kit.scoring.matching.matcher import MatchDecision
from scenario_kit.scoring.matching.policy import MatchPolicy


class ClaimCounts(msgspec.Struct, frozen=True):
    """What claims add up to: right ones (each root once), wrong ones, and the roots that there are."""

    right: int
    wrong: int
    roots: int

    @property
    def precision(self) -> float:
        """The share of counted claims that are right; 0 where nothing was claimed."""
        return self.right / (self.right + self.wrong) if self.right else 0.0

    @property
    def recall(self) -> float:
        """The share of roots that were named; it cannot exceed 1, as it does in the published code for repeats."""
        return self.right / self.roots

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return compute_f1(self.precision, self.recall)

    @property
    def recall_gated_precision(self) -> float:
        """0 if any root is missing, else the precision."""
        return self.precision if self.right == self.roots else 0.0


def compute_f1(precision: float, recall: float) -> float:
    """Compute the harmonic mean; 0 where both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def count_claims(decisions: Sequence[MatchDecision], roots: int, policy: MatchPolicy) -> ClaimCounts:
    """Count claims by what was decided on them.

    Raises:
        ValueError: the truth has no root, so that there is nothing to recall; a control is scored by its claims alone.
    """
    if roots < 1:
        raise ValueError("the truth has no root cause: score it as a control")
    wrong = {"OtherEntity", "Unmatched", "Ambiguous", "Unreadable"}
    wrong |= {"Duplicate"} if policy.duplicates == "penalise" else set()
    wrong |= {"Alias"} if policy.aliases == "penalise" else set()
    return ClaimCounts(
        right=sum(each.verdict == "RootCause" for each in decisions),
        wrong=sum(each.verdict in wrong for each in decisions),
        roots=roots,
    )


def count_first_claims(decisions: Sequence[MatchDecision], roots: int, policy: MatchPolicy, k: int) -> ClaimCounts:
    """Count the first ``k`` claims.

    Raises:
        ValueError: ``k`` is less than 1, or the truth has no root.
    """
    if k < 1:
        raise ValueError("k is at least 1")
    return count_claims(decisions[:k], roots, policy)


def measure_hit(decisions: Sequence[MatchDecision], k: int) -> float:
    """Return 1 if one of the first ``k`` claims is a root, else 0 (AC@k of one case)."""
    return float(any(each.verdict == "RootCause" for each in decisions[:k]))


def average_hits(decisions: Sequence[MatchDecision], k: int) -> float:
    """Average AC@1 to AC@k of one case (Avg@k)."""
    return sum(measure_hit(decisions, each) for each in range(1, k + 1)) / k
