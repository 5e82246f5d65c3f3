"""The page of scenarios: tables over synthetic scenarios, and the published page."""

from datetime import date
from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.load import load_scenario
from scenario_kit.model import Scenario
from scenario_kit.model.results.difficulty import Complexity, Difficulty
from scenario_kit.model.results.evidence import Evidence, VersionKey
from tools.pages.scenarios_page import (
    Listed,
    describe_difficulty,
    describe_evidence,
    describe_kind,
    describe_solvers,
    render_scenarios_page,
)

ROOT = Path(__file__).parents[2]
CATALOG = Catalog([ROOT])
KEY = VersionKey(scenario="a", app="shop 1", app_digest="b", images="c", alerts="d", contract="e")


def scenario(*faults, **spec):
    made = [{"name": f"f{i}", "type": "t", "target": "Deployment/x", **f} for i, f in enumerate(faults)]
    app = {"name": "shop", "version": "1"}
    return Scenario.from_json({"name": "s", "spec": {"title": "T", "app": app, "faults": made, **spec}})


def evidence(**changes):
    return Evidence(
        scenario="s", digest="d", key=KEY, plan="standard", n=10, failures=1, at_least=0.6, claims=0.53,
        tier="simulated", data_plane="Twin", trials=14, minutes=2.0, date=date(2030, 1, 2), kit="1", **changes,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (scenario({}), "single fault"),
        (scenario({}, {}), "2 causes"),
        (scenario({}, {}, groundTruth={"causesJoin": "Conjunctive"}), "2 causes, conjunctive"),
        (scenario({}, groundTruth={"rootCauses": [{"fault": "f0"}, {"fault": "f0"}]}), "single fault, conjunctive"),
        (scenario({}, {"start": {"onAlert": {"name": "A"}}}), "2 causes, staged"),
        (scenario({"visibility": "Hidden"}), "single fault, hidden"),
        (
            scenario({"role": "Sustaining"}, {"role": "Trigger", "start": {"afterFault": "f0"}}),
            "single fault, staged, with a trigger",
        ),
        (scenario({}, {"role": "Distractor"}), "single fault, with a distractor"),
        (scenario({}, groundTruth={"outcome": "Benign"}), "benign"),
        (scenario(), "no incident"),
        (scenario({"role": "Distractor"}, groundTruth={"outcome": "NoIncident"}), "no incident, with a distractor"),
    ],
)
def test_kinds(found, words):
    assert describe_kind(found) == words


def test_difficulty():
    measured = Difficulty(complexity=Complexity(path=2, steps=1, technologies=1, value=1.26, band="Low"))
    assert describe_difficulty(evidence(difficulty=measured)) == "Low"
    assert describe_difficulty(evidence()) == describe_difficulty(None) == ""


def test_evidence_in_words():
    assert describe_evidence(evidence()) == "simulated, standard: 9 of 10 held, 2030-01-02"
    assert describe_evidence(None) == "none"


def test_baselines_in_words():
    assert describe_solvers(None) == "not run"
    assert describe_solvers(()) == "none"
    assert describe_solvers(("recent-change", "runbook")) == "**recent-change**, runbook"


def test_page_lists_every_scenario_and_fault():
    listed = [Listed(load_scenario(path).scenario) for path in CATALOG.scenarios()]
    page = render_scenarios_page(listed, [CATALOG.fault(name) for name in CATALOG.faults()], ())

    assert all(f"[{one.scenario.name}](" in page for one in listed)
    coverage = page.partition("## Coverage")[2]
    assert all(name in coverage for name in CATALOG.faults())
    assert f"{len(listed)} scenarios, 0 of them" in page


def test_unsupported_faults_are_bracketed():
    from scenario_kit.catalog.capabilities import list_capabilities

    page = render_scenarios_page(
        [], [CATALOG.fault(n) for n in ("clock-skew", "network-loss")], list_capabilities(CATALOG)
    )

    assert "[clock-skew], network-loss" in page
