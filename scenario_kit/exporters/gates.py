"""Export gates: the oracle must score 1, the nop 0, and a claim about a control 0.

Each answer is scored twice, by the exported verifier and by ``scenario-kit score``; the two must agree.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from scenario_kit.errors import AuthoringError
from scenario_kit.exporters.reference_answers import NO_INCIDENT, build_control_truth, build_oracle_answer
from scenario_kit.exporters.rules import build_rules, load_verifier
from scenario_kit.model.base import Value
from scenario_kit.scoring.entities.truth import IncidentTruth
from scenario_kit.scoring.files.run_records import fill_answer
from scenario_kit.scoring.files.source import parse_source
from scenario_kit.scoring.runs.record import RunRecord
from scenario_kit.scoring.scores.run_score import prepare_truth, score_run
from scenario_kit.scoring.scores.settings import ScoreSettings


class GateCheck(Value, frozen=True, kw_only=True, omit_defaults=False):
    """One answer: its expected reward, the exported verifier's, and that of ``scenario-kit score``."""

    name: str
    expected: float
    exported: float
    scored: float

    @property
    def holds(self) -> bool:
        """Whether both rewards equal the expected one."""
        return self.expected == self.exported == self.scored


class GateReport(Value, frozen=True, kw_only=True, omit_defaults=False):
    """The gates of one incident."""

    incident: str
    outcome: str
    checks: tuple[GateCheck, ...]

    @property
    def holds(self) -> bool:
        """Whether every gate passed."""
        return all(each.holds for each in self.checks)


def check_gates(truth: IncidentTruth) -> GateReport:
    """Check the gates of a truth and of its control twin.

    A truth that is itself a control has no oracle claim, so its false alarm names an arbitrary object.
    """
    oracle = build_oracle_answer(truth)
    checks = [_check(truth, "oracle", oracle, 1.0), _check(truth, "nop", None, 0.0)]
    if truth.outcome == "Incident":
        checks.append(_check(truth, "no incident claimed", NO_INCIDENT, 0.0))
        control, claim = build_control_truth(truth), oracle
    else:
        control, claim = truth, {"contributing_factors": [{"name": "shop/Deployment/innocent"}]}
    checks += [
        _check(control, "control: oracle", NO_INCIDENT, 1.0),
        _check(control, "control: nop", None, 0.0),
        _check(control, "control: false alarm", claim, 0.0),
    ]
    return GateReport(incident=truth.incident, outcome=truth.outcome, checks=tuple(checks))


def require_gates(truth: IncidentTruth) -> GateReport:
    """Check the gates of an incident before it is exported.

    Raises:
        AuthoringError: a gate failed.
    """
    report = check_gates(truth)
    failed = [each for each in report.checks if not each.holds]
    if failed:
        summary = "; ".join(f"{e.name}: expected {e.expected:g}, got {e.exported:g} and {e.scored:g}" for e in failed)
        raise AuthoringError(f"{truth.incident}: gates failed: {summary}", fix="correct the ground truth")
    return report


def list_failed_incidents(reports: Sequence[GateReport]) -> list[str]:
    """List the incidents with a failed gate."""
    return [each.incident for each in reports if not each.holds]


def _check(truth: IncidentTruth, name: str, answer: dict[str, Any] | None, expected: float) -> GateCheck:
    text = None if answer is None else json.dumps(answer)
    exported = load_verifier().score_answer(json.loads(build_rules(truth).render()), text)["rewards"]["reward"]
    return GateCheck(name=name, expected=expected, exported=exported, scored=score_text(truth, text))


def score_text(truth: IncidentTruth, text: str | None) -> float:
    """Score an answer's text as ``scenario-kit score`` does: recall-gated precision; for a control, correctness."""
    record = RunRecord(incident=truth.incident, trial="1")
    if text is not None:
        try:
            record = fill_answer(record, parse_source(text, "answer.json"))
        except AuthoringError:
            record = RunRecord(incident=truth.incident, trial="1", state="Invalid")
    context = prepare_truth(truth)
    scored = score_run(context, record, ScoreSettings())
    return float(scored.correct) if context.control else scored.values["recall_gated_precision"]
