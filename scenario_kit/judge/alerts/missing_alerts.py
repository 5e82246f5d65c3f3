"""Findings on missing alerts: an expectation that was not met, an incident without any alert. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from scenario_kit.judge.alerts.expectations import list_by_class
from scenario_kit.load.rules import build_finding
from scenario_kit.model import AlertHistory, Finding
from scenario_kit.model.authored.alert_rule import name_alert
from scenario_kit.model.authored.scenario import Expect

#: How to fix a scenario in which no alert fires.
NO_ALERT_FIX: Final = (
    "make the fault stronger, choose a target with more traffic, or load rules that cover what the fault changes:"
    " `scenario-kit catalog alerts` lists the rules of all packs, spec.app.alertPacks chooses packs"
)


class UnusedRules(NamedTuple):
    """The alert history of rules that the scenario does not load, and the ``alertPacks`` that would include them."""

    history: AlertHistory
    packs: tuple[str, ...]


def explain_silence(finding: Finding, beside: Mapping[str, UnusedRules], injected_at: float) -> Finding:
    """Add to a finding on a missing alert which rules of other packs would have fired.

    Args:
        finding: the missing alert.
        beside: by pack, the rules that the scenario does not load.
        injected_at: alerts already firing then do not belong to the incident.
    """
    reported, packs = [], []
    for pack, (history, choice) in sorted(beside.items()):
        new = [t for t in history.timelines if t.onset(injected_at) is not None and not t.firing_at(injected_at)]
        if new:
            packs.append(", ".join(choice))
            reported.append(f"{', '.join(sorted({name_alert(t) for t in new}))} (pack '{pack}')")
    if not reported:
        return finding
    observed = f"{finding.observed}; rules of packs not loaded would have fired: {'; '.join(reported)}"
    fix = f"write `alertPacks: [{packs[0]}]` and expect its alert, or choose another target"
    return msgspec.structs.replace(finding, observed=observed, fix=fix)


def check_unnoticed(history: AlertHistory, expect: Expect, injected_at: float) -> list[Finding]:
    """Report an incident that declares no must-fire alert (drafts may) and raised none."""
    if list_by_class(expect, "MustFire") or any(i.start > injected_at for t in history.timelines for i in t.firing):
        return []
    return [
        build_finding(
            "SK322",
            message="no alert must fire, and none fired",
            observed="no alert fired at all",
            expected="an alert of the incident",
            why="without an alert the incident goes unnoticed, and no repair can be verified",
            fix=f"{NO_ALERT_FIX}; or let the outcome be Benign",
        )
    ]
