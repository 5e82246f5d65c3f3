"""Find objects that a fault writes without a label (docs/validator.md). Pure.

A fault declares which written objects are causes and which are artefacts. That claim is tested: what the fault did to
an unlabelled object is undone alone. If that clears the alerts, the object is a cause, and an answer that names it
would be wrongly scored.
"""

from __future__ import annotations

from typing import NamedTuple

from scenario_kit.campaign.interventions.label_interventions import CauseRepair, list_answers, list_other_causes
from scenario_kit.model import Change, Fault, Runbook
from scenario_kit.model.chaos.kinds import ONE_SHOT


class Artefact(NamedTuple):
    """An unlabelled object that a fault writes, and the causes of other faults to repair first."""

    fault: str
    entity: str
    others: tuple[CauseRepair, ...]


def find_artefacts(runbook: Runbook) -> list[Artefact]:
    """Return every object that a fault writes without a label, in the order of writes.

    Distractors are covered by a trial of their own.
    """
    return [
        Artefact(fault.name, entity, list_other_causes(runbook, fault))
        for fault in runbook.faults
        if fault.role != "Distractor"
        for entity in _find_written(runbook, fault)
    ]


def _find_written(runbook: Runbook, fault: Fault) -> list[str]:
    """Return the objects of a fault, as ``Kind/name``, whose undo tests its labels."""
    answered = [c.entity for c in list_answers(runbook) if c.fault == fault.name]
    # The causes of an unlabelled fault are covered by the trial of everything unlabelled.
    causes = {e.ref.bare for e in fault.causes} if not answered else {ref.bare for ref in answered}
    homes = {("Namespace", ref.namespace) for ref in answered}
    written = [about for c in fault.changes if (about := _describe_change(runbook, fault, c)) is not None]
    return [f"{kind}/{name}" for kind, name in dict.fromkeys(written) if (kind, name) not in causes | homes]


def _describe_change(runbook: Runbook, fault: Fault, change: Change) -> tuple[str, str] | None:
    """Return the object that a change writes permanently; of a hidden fault, the experiment is represented by its
    workload.
    """
    operation = change.operation
    hidden = fault.visibility == "Hidden"
    if not operation.stateful or (
        operation.experiment is not None and (hidden or operation.experiment["spec"].get("action") in ONE_SHOT)
    ):
        return None
    return operation.about(runbook.app.flags)
