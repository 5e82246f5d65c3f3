"""Connection outcomes: their stages, and the error types in spans."""

from __future__ import annotations

import pytest

from scenario_kit.lab.twin.outcome import UNCONNECTED, UNREACHED, ConnectionOutcome, Stage, find_stage


@pytest.mark.parametrize("outcome", list(ConnectionOutcome), ids=lambda each: each.name)
def test_every_outcome_has_a_stage(outcome: ConnectionOutcome) -> None:
    stage = find_stage(outcome)
    assert (outcome in UNREACHED) is (stage in ("Name", "Connection"))
    assert (outcome in UNCONNECTED) is (stage != "Call")


@pytest.mark.parametrize(
    ("outcome", "stage", "error_type"),
    [
        (ConnectionOutcome.NXDOMAIN, "Name", "noname"),
        (ConnectionOutcome.SERVFAIL, "Name", "misanswered"),
        (ConnectionOutcome.CONNECTION_REFUSED, "Connection", "refused"),
        (ConnectionOutcome.TLS_MISMATCH, "Session", "plain"),
        (ConnectionOutcome.UNKNOWN_DATABASE, "Session", "nowhere"),
        (ConnectionOutcome.ERROR_RESPONSE, "Call", "failure"),
        (ConnectionOutcome.OK, "Call", "ok"),
    ],
)
def test_outcomes_have_stage_and_error_type(outcome: ConnectionOutcome, stage: Stage, error_type: str) -> None:
    assert (find_stage(outcome), outcome.value) == (stage, error_type)
