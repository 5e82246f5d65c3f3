"""Locate the line of a scenario's file that a trial's finding refers to. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from scenario_kit.campaign.results.result import Validation
from scenario_kit.campaign.results.verdict import name_correction
from scenario_kit.load import Positions
from scenario_kit.model import Finding
from scenario_kit.model.authored.scenario import ScenarioSpec
from scenario_kit.model.json_document import Place

_ALERTS: Final = ("spec", "expect", "alerts")
_BACKGROUND: Final = ("spec", "expect", "background")
_CHECKS: Final = ("spec", "expect", "checks")
_FAULTS: Final = ("spec", "faults")
_CAUSES: Final = ("spec", "groundTruth", "rootCauses")
_EDGES: Final = ("spec", "groundTruth", "propagation")
_SOLUTIONS: Final = ("spec", "solutions")
_DECOYS: Final = ("spec", "decoys")
#: The part of the file that a finding refers to, by code.
_PARTS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("SK302", "SK321", "SK322", "SK323", "SK326", "SK327", "SK329", "SK508"), _ALERTS),
    **dict.fromkeys(("SK303", "SK330"), _BACKGROUND),
    "SK141": _CHECKS,
    "SK328": _CHECKS,
    **dict.fromkeys(
        ("SK304", "SK305", "SK306", "SK331", "SK332", "SK333", "SK418", "SK435", "SK441", "SK442"), _FAULTS
    ),
    **dict.fromkeys(("SK401", "SK402", "SK403"), _CAUSES),
    **dict.fromkeys(("SK407", "SK415"), _EDGES),
    **dict.fromkeys(("SK411", "SK412", "SK419"), _SOLUTIONS),
    "SK431": _DECOYS,
}

#: Findings about infrastructure, which have no place in the file.
_ELSEWHERE: Final = frozenset({"SK901", "SK904", "SK911", "SK990"})


def locate_findings(validation: Validation, spec: ScenarioSpec, positions: Positions) -> Validation:
    """Set missing positions of findings to the entry that they name, or else to the part they refer to."""
    findings = tuple(
        finding
        if finding.position is not None or finding.code in _ELSEWHERE
        else msgspec.structs.replace(finding, position=positions.value(*_find_place(finding, spec)))
        for finding in validation.findings
    )
    correction = name_correction(validation.verdict, findings)
    return msgspec.structs.replace(validation, findings=findings, correction=correction)


def _find_place(finding: Finding, spec: ScenarioSpec) -> Place:
    part = _PARTS.get(finding.code, ("spec",))
    text = f"{finding.message} {finding.step} {finding.observed}"
    entries = [sum(word in text for word in words if word) for words in _list_names(part, spec)]
    best = max(entries, default=0)
    return (*part, entries.index(best)) if best else part


def _list_names(part: tuple[str, ...], spec: ScenarioSpec) -> Sequence[tuple[str, ...]]:
    """Return the names of each entry of a part, which are searched for in the finding."""
    if part == _ALERTS:
        return [(a.name, a.entity or "") for a in spec.expect.alerts]
    if part == _BACKGROUND:
        return [(b.name, b.entity or "") for b in spec.expect.background]
    if part == _CHECKS:
        return [(c.describe,) for c in spec.expect.checks]
    if part == _FAULTS:
        return [(f.name, f.type, f.target) for f in spec.faults]
    if part == _CAUSES:
        return [(c.fault, c.entity or "") for c in spec.ground_truth.root_causes]
    if part == _EDGES:
        return [(e.from_, e.to) for e in spec.ground_truth.propagation]
    if part == _SOLUTIONS:
        return [(s.name,) for s in spec.solutions]
    if part == _DECOYS:
        return [(d.name,) for d in spec.decoys]
    return []
