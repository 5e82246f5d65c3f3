"""Check that a solver can tell an incident from all others of the catalogue (docs/evidence.md). Pure.

A fingerprint has symptoms (alerts in each repeat) and signs, which an investigation finds (events, container states,
log lines, fields that differ from the healthy app). Two incidents with the same symptoms and different answers are a
hard pair if some sign distinguishes them, and unidentifiable otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from scenario_kit.campaign.interventions.label_interventions import list_labelled
from scenario_kit.campaign.results.repeatability import discriminates
from scenario_kit.campaign.results.result import Neighbour, TrialResult
from scenario_kit.campaign.results.summary import end_of_hold
from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding, Runbook
from scenario_kit.model.authored.alert_rule import name_alert
from scenario_kit.model.results.evidence import Fingerprint
from scenario_kit.model.results.purpose import is_repeat

#: Incidents whose symptoms differ by less are indistinguishable by alerts (a convention).
SAME: Final = 0.2
#: Minimum number of repeats to measure the variation of symptoms.
_FEW: Final = 3


def take_fingerprint(runbook: Runbook, results: Iterable[TrialResult]) -> Fingerprint | None:
    """Return the fingerprint of the repeats that held; None if there are too few, or without an incident."""
    repeats = [r for r in results if is_repeat(r.purpose) and r.outcome == "Held" and r.history is not None]
    if runbook.outcome != "Incident" or len(repeats) < _FEW:
        return None
    counted = Counter(sign for repeat in repeats for sign in set(repeat.signs))
    usual = [sign for sign, times in counted.items() if 2 * times >= len(repeats)]
    return Fingerprint(
        app=runbook.app.name,
        answer=tuple(sorted({c.entity for c in list_labelled(runbook)})),
        symptoms=tuple(tuple(sorted(collect_symptoms(r))) for r in repeats),
        signs=tuple(sorted({*usual, *_find_changed(runbook)})),
    )


def collect_symptoms(repeat: TrialResult) -> set[str]:
    """Return the alerts of a repeat from injection to the end of hold."""
    assert repeat.history is not None
    start, end = repeat.injected_at or repeat.history.start, end_of_hold(repeat)
    return {name_alert(t) for t in repeat.history.timelines if t.fires_within(start, end)}


def _find_changed(runbook: Runbook) -> set[str]:
    """Return fields that a solver can find changed; those written by hidden experiments are invisible."""
    return {
        f"field {entity.field or 'of'} on {entity.ref}"
        for fault in runbook.faults
        if fault.visibility != "Hidden"
        for entity in fault.entities
        if entity.role != "Victim" and not entity.generated
    }


def find_neighbours(mine: Fingerprint, others: Mapping[str, Fingerprint]) -> list[Neighbour]:
    """Return incidents of the same app with the same symptoms, nearest first, and what distinguishes them."""
    found = []
    for name, other in others.items():
        if other.app != mine.app or not other.symptoms:
            continue
        margin = discriminates([frozenset(s) for s in mine.symptoms], [frozenset(s) for s in other.symptoms])
        if margin < SAME:
            own_signs, other_signs = set(mine.signs) - set(other.signs), set(other.signs) - set(mine.signs)
            found.append(
                Neighbour(
                    scenario=name,
                    margin=round(margin, 3),
                    same_answer=mine.answer == other.answer,
                    here=tuple(sorted(own_signs)),
                    there=tuple(sorted(other_signs)),
                )
            )
    return sorted(found, key=lambda n: (n.margin, n.scenario))


def judge_neighbours(found: Sequence[Neighbour]) -> list[Finding]:
    """Report incidents that cannot be distinguished, and incidents that are the same."""
    findings = []
    for near in found:
        if near.same_answer:
            findings.append(
                build_finding(
                    "SK452",
                    message=f"'{near.scenario}' has the same answer and the same symptoms",
                    observed=f"their repeats differ by {near.margin:.2f} (mean Jaccard within, less across)",
                    expected=f"{SAME:g} or more, or another answer",
                )
            )
        elif not near.here and not near.there:
            findings.append(
                build_finding(
                    "SK451",
                    message=f"indistinguishable from '{near.scenario}', whose root cause differs",
                    observed=f"alerts differ by {near.margin:.2f}; events, states, logs and fields are the same",
                    expected="an observation that a solver can make in one of them only",
                )
            )
    return findings
