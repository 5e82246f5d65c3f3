"""Journeys of drafts: how far each gets, and which are retried."""

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.model import Reference
from tools.draft_runs.extremes import list_extremes
from tools.draft_runs.journey import Journey, read, run_workflow, select_unjudged, summarise_journeys
from tools.matrix.pairs import Pair
from tools.records import append

PAIR = Pair("shop", "1.0", "pod-kill", 1, "Pod", Reference.parse("Deployment/cart"))
ALL = ["new", "lint", "try", "lint", "verify"]


@pytest.mark.parametrize(
    ("answers", "ran", "stopped", "corrected"),
    [
        ({}, ALL, "", False),
        ({"lint": (1, "SK105")}, ["new", "lint"], "lint", False),
        ({"try": (1, "FAIL; accepted into scenario.yaml")}, ALL, "", True),
        ({"try": (1, "FAIL; nothing to accept")}, ["new", "lint", "try"], "try", False),
        ({"verify": (4, "INCONCLUSIVE")}, ALL, "verify", False),
        ({"try": (2, "the lab is gone")}, ["new", "lint", "try"], "try", False),
    ],
)
def test_journey_stops_at_the_first_failing_command(tmp_path, answers, ran, stopped, corrected):
    seen = []

    def run(arguments):
        seen.append(arguments)
        return answers.get(arguments[0], (0, "fine"))

    journey = run_workflow((PAIR, ("a=1", "b=two")), tmp_path, run, ("--name", "lab"))
    assert [step[0] for step in seen] == ran
    assert (journey.stopped, journey.corrected) == (stopped, corrected)
    assert bool(journey.said) == bool(stopped)
    assert journey.draft == (PAIR, ("a=1", "b=two"))
    assert seen[0][-6:-2] == ("--parameter", "a=1", "--parameter", "b=two")
    assert all(("--name" in step) == (step[0] in ("try", "verify")) for step in seen)


def test_records_persist_and_infra_results_are_retried(tmp_path):
    file = tmp_path / "runs" / "drafts.jsonl"
    others = [PAIR._replace(target=f"Deployment/{name}") for name in ("a", "b", "c")]
    proven, refused, broken = (
        Journey(pair=pair, stopped=stopped, code=code)
        for pair, stopped, code in zip(others, ("", "lint", "try"), (0, 1, 2), strict=True)
    )
    append(file, proven)
    with file.open("a") as out:
        out.write('{"app": "half of')
    for each in (refused, broken):
        append(file, each)
    known = read(file)
    assert known == [proven, refused, broken]
    drafts = [(pair, ()) for pair in (PAIR, *others)]
    assert select_unjudged(drafts, known) == [drafts[0], drafts[3]]
    assert select_unjudged(drafts, known, again=True) == [drafts[0], drafts[2], drafts[3]]
    assert select_unjudged([(others[0], ("a=1",))], known) == [(others[0], ("a=1",))]
    assert summarise_journeys(known).splitlines()[-1] == "1 of 3 proven, 0 of them after a correction"


@pytest.mark.parametrize(
    ("fault", "target", "expected"),
    [
        # choices of the rendered app; its first port of TCP is the draft's own
        ("sidecar-port-conflict", "Deployment/otel-collector", "port=14268 port=8888 port=4317 port=4318 port=9411"),
        ("sidecar-port-conflict", "Deployment/cart", ""),
        ("network-loss", "Deployment/cart", "lossPercent=15 lossPercent=80 correlationPercent=100"),  # bounds
        ("service-deleted", "Service/cart", ""),  # no parameters
        ("deployment-scaled-to-zero", "Deployment/otel-collector", ""),  # not drafted there at all
    ],
)
def test_extremes_are_bounds_and_choices_except_defaults(fault, target, expected):
    assert (
        list(list_extremes(Catalog(), Pair("otel-demo", "2.2.0", fault, 1, "", Reference.parse(target))))
        == expected.split()
    )
