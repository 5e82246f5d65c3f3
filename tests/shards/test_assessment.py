"""Which results count: those of the same files, that do not contradict themselves."""

from __future__ import annotations

import gzip
import hashlib
import json
import xml.etree.ElementTree as ElementTree

import msgspec
import pytest

from scenario_kit.load.rules import build_finding
from scenario_kit.model import Position, Verdict
from scenario_kit.report import junit
from scenario_kit.shards.assessment import assess_result, choose_exit_code, count_standings
from scenario_kit.shards.execution import describe_report
from scenario_kit.shards.relocation import relocate_report
from scenario_kit.shards.results import RESULT_VERSION, ShardResult, StoredResult, UnreadableResult
from scenario_kit.shards.summary import MAX_ROWS, build_document, render_junit, render_page, shorten_report
from tests.shards.conftest import make_report, make_work

WORK = make_work("cart-down")
(ITEM,) = WORK.items
OPENING = ShardResult(
    schema_version=RESULT_VERSION, work="nightly", catalogue=WORK.catalogue, scenario="cart-down",
    digest=ITEM.digest, shard=0, state="Begun", pod="pod-1", at="2026-11-26T10:00:00+00:00",
)  # fmt: skip
GOOD = describe_report(OPENING, make_report(ITEM))


def change(stored=GOOD, **fields):
    return stored._replace(result=msgspec.structs.replace(stored.result, **fields))


def test_result_of_equal_files_counts():
    assessed = assess_result(WORK, ITEM, GOOD)
    assert (assessed.standing, assessed.verdict) == ("Collected", Verdict.PASS)
    assert assessed.report is not None


def forge(**fields):
    """Build a result that holds together, with a report that the kit did not write like that."""
    text = json.dumps(make_report(ITEM).to_json() | fields).encode()
    digest = hashlib.sha256(text).hexdigest()
    return change(report_digest=digest)._replace(packed=gzip.compress(text))


OTHER = describe_report(OPENING, make_report(ITEM, Verdict.FAIL))


@pytest.mark.parametrize(
    ("found", "standing", "said"),
    [
        (None, "Missing", "not started"),
        (UnreadableResult("it is damaged"), "Refused", "it is damaged"),
        (StoredResult(OPENING), "Begun", "by pod-1, not ended"),
        (change(catalogue="b" * 64), "Stale", "the catalogue, plan"),
        (change(digest="other"), "Stale", "the scenario has changed"),
        (change(work="weekly"), "Refused", "in weekly"),
        (change(scenario="cart-up"), "Refused", "the result of cart-up"),
        # somebody writes a verdict of his own
        (change(OTHER, verdict=Verdict.PASS), "Refused", "the verdict Fail, expected Pass"),
        (StoredResult(change(verdict=Verdict.PASS).result), "Refused", "cannot be read|incomplete"),
        (StoredResult(change(report_digest="").result), "Refused", "without a report"),
        (GOOD._replace(packed=OTHER.packed), "Refused", "digest differs"),
        # or takes the report of something else
        (describe_report(OPENING, make_report(ITEM, scenario="cart-up")), "Refused", "scenario cart-up"),
        (describe_report(OPENING, make_report(ITEM, plan="try")), "Refused", "plan try"),
        (describe_report(OPENING, make_report(ITEM, digest="older")), "Refused", "of the incident older"),
        (forge(kit="0.0.1"), "Refused", "version 0.0.1"),
        (describe_report(OPENING, make_report(ITEM, Verdict.NOT_EVALUATED)), "Failed", "as it should be"),
    ],
)
def test_rejected_result_has_a_reason(found, standing, said):
    assessed = assess_result(WORK, ITEM, found)
    assert assessed.standing == standing
    assert any(each in assessed.reason for each in said.split("|")), assessed.reason
    assert assessed.report is None or standing == "Failed"
    assert choose_exit_code([assessed]) == 2


def test_static_verdict_needs_no_incident():
    static = make_report(ITEM, Verdict.FAIL, digest="")
    assert assess_result(WORK, ITEM, describe_report(OPENING, static)).standing == "Collected"


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([], 0),
        ([Verdict.PASS], 0),
        ([Verdict.PASS, Verdict.INCONCLUSIVE], 4),
        ([Verdict.INCONCLUSIVE, None], 2),
        ([None, Verdict.KIT_ERROR], 3),
        ([None, Verdict.KIT_ERROR, Verdict.FAIL, Verdict.PASS], 1),
    ],
)
def test_worst_verdict_decides(verdicts, expected):
    found = [None if each is None else describe_report(OPENING, make_report(ITEM, each)) for each in verdicts]
    assert choose_exit_code([assess_result(WORK, ITEM, each) for each in found]) == expected


def several():
    work = make_work("a", "b", "c", "d")
    a, b, c, d = work.items
    opened = {i.scenario: msgspec.structs.replace(OPENING, scenario=i.scenario, digest=i.digest) for i in work.items}
    crashed = msgspec.structs.replace(opened["c"], state="Ended", verdict=Verdict.KIT_ERROR, message="a\nbug | [x]")
    return work, [
        assess_result(work, a, describe_report(opened["a"], make_report(a))),
        assess_result(work, b, describe_report(opened["b"], make_report(b, Verdict.FAIL, headline="no alert"))),
        assess_result(work, c, StoredResult(crashed)),
        assess_result(work, d, None),
    ]


def test_summary_lists_failed_scenarios():
    work, assessed = several()
    page = render_page(work, assessed, {"b": "b/20261126T100000000000Z"})
    assert page.startswith("# 1 of 4 scenarios pass")
    assert "| [b](b/20261126T100000000000Z/report.html) | Fail | no alert |" in page
    assert "| c | KitError | a bug \\| \\[x] |" in page
    assert "| d | Missing | not started |" in page
    assert count_standings(assessed) == {"Pass": 1, "Fail": 1, "KitError": 1, "Missing": 1}
    document = build_document(work, assessed, {"b": "b/20261126T100000000000Z"})
    assert document["exitCode"] == 1
    assert [each["standing"] for each in document["scenarios"]] == ["Collected"] * 3 + ["Missing"]


def test_thousand_failures_give_a_readable_page():
    work = make_work(*(f"s{n}" for n in range(1000)))
    page = render_page(work, [assess_result(work, item, None) for item in work.items], {})
    assert page.count("| Missing |") == MAX_ROWS + 1
    assert f"{1000 - MAX_ROWS} more are in summary.json" in page


def test_junit_has_a_suite_for_each_scenario():
    _, assessed = several()
    root = ElementTree.fromstring(render_junit(assessed))
    suites = {suite.get("name"): suite for suite in root.iter("testsuite")}
    assert set(suites) == {"a", "b", "c", "d"}
    assert suites["c"].find("testcase/failure") is not None
    assert suites["d"].find("testcase/skipped") is not None
    assert suites["a"].find("testcase/failure") is None


def test_truncated_report_gives_equal_junit():
    report = make_report(ITEM)
    assert junit.render(shorten_report(report)) == junit.render(report)


@pytest.mark.parametrize(
    ("here", "place", "there"),
    [
        ("/tmp/x/roots/0/catalog/scenarios/a/scenario.yaml", "catalog/scenarios/a/scenario.yaml", ""),
        ("/tmp/x/roots/0/catalog/scenarios/a/scenario.yaml", "catalog/scenarios/a/scenario.yaml", "../ours/"),
        ("/tmp/x/alone/a/scenario.yaml", "a/scenario.yaml", "mine/"),
    ],
)
def test_report_has_the_paths_of_its_author(here, place, there):
    check_relocation(here, place, f"{there}{place}", f"{there}catalog/faults/x")


@pytest.mark.parametrize(
    "path", ["scenarios/a/scenario.yaml", "scenario.yaml", "/ours/catalog/apps/../a/scenario.yaml"]
)
def test_path_that_does_not_name_the_root_is_kept(path):
    place = "catalog/scenarios/a/scenario.yaml"
    check_relocation(f"/ours/{place}", place, path, "catalog/faults/x")


def check_relocation(here, place, path, fault):
    item = msgspec.structs.replace(ITEM, place=place, path=path)
    base = here.removesuffix(place)
    finding = msgspec.structs.replace(build_finding("SK501", "x"), position=Position(path=here, line=3))
    report = make_report(
        ITEM,
        findings=(finding,),
        path=here,
        next=f"scenario-kit lint {here}",
        headline=f"{base}catalog/faults/x is odd",
    )
    moved = relocate_report(report, here, item).validation
    assert moved.path == item.path
    assert moved.findings[0].position.path == item.path
    assert moved.next == f"scenario-kit lint {item.path}"
    assert moved.headline == f"{fault} is odd"
