"""Test the declared `persistence` of faults (docs/validator.md). Pure.

A fault that ends with its pods, or by itself, is exempt from the restart cheat and from the proof that it lasts. So the
declaration is tested: after a restart of every workload, or after waiting, the incident must be over.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

import msgspec

from scenario_kit.campaign.interventions.cheats import restart_everything
from scenario_kit.campaign.interventions.label_interventions import CauseRepair, list_other_causes
from scenario_kit.model import Fault, Runbook
from scenario_kit.model.authored.scenario import LABELLED

#: Seconds within which a fault that ends by itself must have ended.
PATIENCE: Final = 3600


class Ending(NamedTuple):
    """A fault, how it should end, and the causes of other faults to repair first."""

    fault: str
    persistence: str
    how: Literal["Restart", "Wait"]
    others: tuple[CauseRepair, ...]


def list_endings(runbook: Runbook) -> list[Ending]:
    """Return the labelled faults that are declared to end without a repair."""
    return [
        Ending(fault.name, fault.persistence, how, list_other_causes(runbook, fault))
        for fault in runbook.faults
        if fault.role in LABELLED and (how := _choose_method(fault)) is not None
    ]


def add_restart(runbook: Runbook) -> Runbook:
    """Add a restart of every workload to the procedures of a runbook."""
    return msgspec.structs.replace(runbook, procedures=(*runbook.procedures, restart_everything(runbook)))


def _choose_method(fault: Fault) -> Literal["Restart", "Wait"] | None:
    """Return how to test the declaration; one-shot faults need a test only if they ran a command."""
    if fault.persistence in ("Expires", "SelfHeals"):
        return "Wait"
    ran = any(change.operation.runs_command for change in fault.changes)
    return "Restart" if fault.persistence == "Pod" or (fault.persistence == "OneShot" and ran) else None
