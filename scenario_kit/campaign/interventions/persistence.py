"""What a fault says of its own end (`persistence`), tried (docs/validator.md). Pure.

Who says that a fault ends with its pods, or by itself, is spared the restart cheat and the proof that the fault lasts.
So the claim is shown to be true: every workload is restarted, or nobody does anything, and the incident is over.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

import msgspec

from scenario_kit.campaign.interventions.cheats import restart_everything
from scenario_kit.campaign.interventions.label_interventions import CauseRepair, list_other_causes
from scenario_kit.model import Fault, Runbook
from scenario_kit.model.authored.scenario import LABELLED

#: Seconds within which a fault that ends by itself has to be over: nobody waits for longer.
PATIENCE: Final = 3600


class Ending(NamedTuple):
    """A fault, how it is said to end, and the causes of other faults that are repaired before."""

    fault: str
    persistence: str
    how: Literal["Restart", "Wait"]
    others: tuple[CauseRepair, ...]


def list_endings(runbook: Runbook) -> list[Ending]:
    """List the labelled faults that are said to end without a repair of their own."""
    return [
        Ending(fault.name, fault.persistence, how, list_other_causes(runbook, fault))
        for fault in runbook.faults
        if fault.role in LABELLED and (how := _choose_method(fault)) is not None
    ]


def add_restart(runbook: Runbook) -> Runbook:
    """Return the runbook in which every workload can be restarted."""
    return msgspec.structs.replace(runbook, procedures=(*runbook.procedures, restart_everything(runbook)))


def _choose_method(fault: Fault) -> Literal["Restart", "Wait"] | None:
    """Choose how its claim is tried; of what is over at once, only what a command did may go on."""
    if fault.persistence in ("Expires", "SelfHeals"):
        return "Wait"
    ran = any(change.operation.runs_command for change in fault.changes)
    return "Restart" if fault.persistence == "Pod" or (fault.persistence == "OneShot" and ran) else None
