"""Find other faults of the catalogue that raise the same alerts (docs/evidence.md), using the matrix. Pure.

The matrix has the alerts of each fault type on each target of the app, tried alone with default parameters. A solver
has to consider these faults too, until an observation rules them out: one of their effect checks that does not pass
here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scenario_kit.campaign.interventions.label_interventions import list_labelled
from scenario_kit.campaign.results.difficulty import is_same_thing
from scenario_kit.campaign.results.identifiability import SAME, collect_symptoms
from scenario_kit.campaign.results.repeatability import discriminates
from scenario_kit.campaign.results.result import Lookalike, Resemblance, TrialResult
from scenario_kit.campaign.results.summary import end_of_hold
from scenario_kit.model import Runbook
from scenario_kit.model.results.matrix import MatrixRow
from scenario_kit.model.results.purpose import is_repeat


def find_resemblance(
    runbook: Runbook, results: Iterable[TrialResult], matrix: Iterable[MatrixRow]
) -> Resemblance | None:
    """Return the faults of the matrix with the same alerts as the repeats that held, nearest first.

    Only alerts within the observed time of the repeats count. The scenario's own faults are left out, and so are silent
    ones, which all look the same. None without an incident, alerts or a matrix.
    """
    repeats = [r for r in results if is_repeat(r.purpose) and r.outcome == "Held" and r.history and r.injected_at]
    seen = [frozenset(collect_symptoms(r)) for r in repeats]
    own = {(fault.type, fault.target) for fault in runbook.faults}
    others = [row for row in matrix if row.outcome == "Ran" and row.alerts and (row.fault, row.target) not in own]
    if runbook.outcome != "Incident" or not any(seen) or not others:
        return None
    seconds = min(end_of_hold(r) - (r.injected_at or 0.0) for r in repeats)
    proven_here = _find_proven(repeats)
    causes = [cause.entity for cause in list_labelled(runbook)]
    found = []
    for row in others:
        alerts = frozenset(str(alert) for alert in row.alerts if alert.seconds <= seconds)
        margin = discriminates(seen, [alerts])
        if alerts and margin < SAME:
            found.append(
                Lookalike(
                    fault=row.fault,
                    target=row.target,
                    margin=round(margin, 3),
                    same_place=any(is_same_thing(runbook.app, row.target, cause) for cause in causes),
                    there=tuple(reported for reported in row.proven if reported not in proven_here),
                )
            )
    nearest = sorted(found, key=lambda each: (each.margin, each.same_place, each.fault, each.target))
    return Resemblance(compared=len(others), faults=tuple(nearest))


def _find_proven(repeats: Sequence[TrialResult]) -> set[str]:
    """Return the effect checks of the scenario's own faults that passed."""
    steps = [step for r in repeats for step in r.steps if step.kind == "inject"]
    return {check.describe for step in steps for check in step.checks if check.answer == "True"}
