"""Drafts with several causes: of one fault, and of several faults at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.draft import Answers, draft
from scenario_kit.draft.alerts import lead_away
from scenario_kit.draft.join import join_drafts
from scenario_kit.lint import lint_file
from scenario_kit.model import Reference
from scenario_kit.model.authored.scenario import PropagationEdge

CATALOG = Catalog()
VERSION = CATALOG.versions("otel-demo")[0]


def test_indirect_cause_propagates_as_its_intermediate() -> None:
    edges = [
        PropagationEdge(
            from_=Reference("Deployment", "cart"), to=Reference("Deployment", "front"), because="it asks cart"
        )
    ]
    found = lead_away(edges, "Deployment/cart", {"Fault/stress": "stress breaks it"})
    assert [(e.from_, e.to) for e in found] == [
        ("Deployment/cart", "Deployment/front"),
        ("Fault/stress", "Deployment/front"),
    ]
    assert len({e.because for e in found}) == 2


def test_every_cause_has_an_edge() -> None:
    made = draft(
        Answers(app="otel-demo", version=VERSION, fault="cpu-stress", target=Reference("Deployment", "cart")), CATALOG
    )
    starts = {edge["from"] for edge in made.spec["groundTruth"]["propagation"]}
    assert {"Fault/cpu-stress", "Deployment/cart"} <= starts


@pytest.mark.parametrize("order", [1, -1])
def test_draft_of_two_dependent_faults_has_no_findings(order: int, tmp_path: Path) -> None:
    answers = [
        Answers(
            app="otel-demo", version=VERSION, fault="deployment-scaled-to-zero", target=Reference("Deployment", "cart")
        ),
        Answers(app="otel-demo", version=VERSION, fault="network-delay", target=Reference("Deployment", "valkey-cart")),
    ][::order]
    made = join_drafts([draft(each, CATALOG) for each in answers])
    path = tmp_path / made.name / "scenario.yaml"
    path.parent.mkdir()
    path.write_text(made.text)
    assert [f.code for f in lint_file(path, CATALOG) if f.code not in ("SK216", "SK217")] == []
