"""Gates of an export: what knows the answer must get 1, what does nothing 0, and a control is no place for claims.

Each is scored twice, by the program that exported tasks carry and by ``scenario-kit score``; both must agree.
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
    """One answer, the reward that it must get, what the exported program gives it, and what the kit does."""

    name: str
    expected: float
    exported: float
    scored: float

    @property
    def holds(self) -> bool:
        """Whether both give what must be."""
        return self.expected == self.exported == self.scored


class GateReport(Value, frozen=True, kw_only=True, omit_defaults=False):
    """All gates of one incident."""

    incident: str
    outcome: str
    checks: tuple[GateCheck, ...]

    @property
    def holds(self) -> bool:
        """Whether all gates hold."""
        return all(each.holds for each in self.checks)


def check_gates(truth: IncidentTruth) -> GateReport:
    """Check all gates of a truth, and those of its control twin.

    Of what is a control itself, a claim is about something that nobody named.
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
    """Check the gates of what is about to be exported.

    Raises:
        AuthoringError: one does not hold.
    """
    report = check_gates(truth)
    failed = [each for each in report.checks if not each.holds]
    if failed:
        summary = "; ".join(f"{e.name}: expected {e.expected:g}, got {e.exported:g} and {e.scored:g}" for e in failed)
        raise AuthoringError(f"{truth.incident}: gates do not hold: {summary}", fix="correct the ground truth")
    return report


def list_failed(reports: Sequence[GateReport]) -> list[str]:
    """List the incidents of which a gate does not hold."""
    return [each.incident for each in reports if not each.holds]


def _check(truth: IncidentTruth, name: str, answer: dict[str, Any] | None, expected: float) -> GateCheck:
    text = None if answer is None else json.dumps(answer)
    exported = load_verifier().score_answer(json.loads(build_rules(truth).render()), text)["rewards"]["reward"]
    return GateCheck(name=name, expected=expected, exported=exported, scored=score_text(truth, text))


def score_text(truth: IncidentTruth, text: str | None) -> float:
    """Score the text of an answer as ``scenario-kit score`` does: recall-gated precision, of a control correctness."""
    record = RunRecord(incident=truth.incident, trial="1")
    if text is not None:
        try:
            record = fill_answer(record, parse_source(text, "answer.json"))
        except AuthoringError:
            record = RunRecord(incident=truth.incident, trial="1", state="Invalid")
    context = prepare_truth(truth)
    scored = score_run(context, record, ScoreSettings())
    return float(scored.correct) if context.control else scored.values["recall_gated_precision"]
