"""Recall-gated precision, precision, recall and F1, of all claims and of the first k."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from scenario_kit.scoring.matching.matcher import MatchDecision
from scenario_kit.scoring.matching.policy import MatchPolicy


class ClaimCounts(msgspec.Struct, frozen=True):
    """Counts of right claims (each root once), wrong claims, and roots."""

    right: int
    wrong: int
    roots: int

    @property
    def precision(self) -> float:
        """Return the share of counted claims that are right; 0 without claims."""
        return self.right / (self.right + self.wrong) if self.right else 0.0

    @property
    def recall(self) -> float:
        """Return the share of roots that were named; unlike the published code, repeats cannot raise it above 1."""
        return self.right / self.roots

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall."""
        return compute_f1(self.precision, self.recall)

    @property
    def recall_gated_precision(self) -> float:
        """Return 0 if any root is missing, else the precision."""
        return self.precision if self.right == self.roots else 0.0

    @property
    def localisation_accuracy(self) -> float:
        """Return 1 for exactly the roots, 1/claims if there are others, 0 if any root is missing (AIOpsLab).

        As published, the dividend is 1 regardless of the number of roots.
        """
        if self.right < self.roots:
            return 0.0
        return 1 / (self.right + self.wrong) if self.wrong else 1.0


class PrecisionRecall(msgspec.Struct, frozen=True):
    """Precision and recall that may give partial credit."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall."""
        return compute_f1(self.precision, self.recall)


def compute_f1(precision: float, recall: float) -> float:
    """Compute the harmonic mean; 0 if both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def count_claims(decisions: Sequence[MatchDecision], roots: int, policy: MatchPolicy) -> ClaimCounts:
    """Count claims by their decisions.

    Raises:
        ValueError: the ground truth has no root; a control is scored by its claims only.
    """
    if roots < 1:
        raise ValueError("the ground truth has no root cause: score it as a control")
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
        ValueError: ``k`` is less than 1, or the ground truth has no root.
    """
    if k < 1:
        raise ValueError("k must be at least 1")
    return count_claims(decisions[:k], roots, policy)


def measure_hit(decisions: Sequence[MatchDecision], k: int) -> float:
    """Return 1 if one of the first ``k`` claims is a root, else 0 (AC@k of one case)."""
    return float(any(each.verdict == "RootCause" for each in decisions[:k]))


def average_hits(decisions: Sequence[MatchDecision], k: int) -> float:
    """Average AC@1 to AC@k of one case (Avg@k)."""
    return sum(measure_hit(decisions, each) for each in range(1, k + 1)) / k
