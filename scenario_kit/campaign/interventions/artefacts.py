"""What a fault writes beside its labelled causes (docs/validator.md). Pure.

A fault says itself which of the objects that it writes are causes, and which are mere artefacts. That is a claim like
any other: what the fault did to an object without a label is undone alone. Where that clears the alerts, the object is
a cause, and whoever names it would be scored as wrong.
"""

from __future__ import annotations

from typing import NamedTuple

from scenario_kit.campaign.interventions.label_interventions import CauseRepair, list_answers, list_other_causes
from scenario_kit.model import Change, Fault, Reference, Runbook
from scenario_kit.model.chaos.kinds import ONE_SHOT
from scenario_kit.model.kubernetes.reference import strip_reference


class Artefact(NamedTuple):
    """An object that a fault writes and no label names, and the causes of other faults that are repaired before."""

    fault: str
    entity: str
    others: tuple[CauseRepair, ...]


def find_artefacts(runbook: Runbook) -> list[Artefact]:
    """Find every object that a fault writes without a label, in the order in which it is written.

    A distractor is left out as a whole in a trial of its own.
    """
    return [
        Artefact(fault.name, entity, list_other_causes(runbook, fault))
        for fault in runbook.faults
        if fault.role != "Distractor"
        for entity in _find_written(runbook, fault)
    ]


def _find_written(runbook: Runbook, fault: Fault) -> list[str]:
    """Find the objects of a fault whose undo says something about its labels, as ``Kind/name``."""
    answered = [c.entity for c in list_answers(runbook) if c.fault == fault.name]
    # Of a fault without a label, the causes are repaired in the trial of everything that is not labelled.
    causes = (
        {strip_reference(e.ref) for e in fault.causes} if not answered else {strip_reference(ref) for ref in answered}
    )
    homes = {("Namespace", ref.namespace) for ref in map(Reference.parse, answered)}
    written = [about for c in fault.changes if (about := _describe_change(runbook, fault, c)) is not None]
    return [f"{kind}/{name}" for kind, name in dict.fromkeys(written) if (kind, name) not in causes | homes]


def _describe_change(runbook: Runbook, fault: Fault, change: Change) -> tuple[str, str] | None:
    """Describe what a change writes and leaves; the experiment of a hidden fault is stood for by the workload that it
    hits.
    """
    operation = change.operation
    hidden = fault.visibility == "Hidden"
    if not operation.stateful or (
        operation.experiment is not None and (hidden or operation.experiment["spec"].get("action") in ONE_SHOT)
    ):
        return None
    return operation.about(runbook.app.flags)
