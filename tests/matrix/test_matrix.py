"""Parts of ci/matrix without a lab: pairs, rows, reasons, and the page."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from scenario_kit.campaign.results.result import TrialResult
from scenario_kit.catalog import Catalog
from scenario_kit.catalog.matrix import read_rows
from scenario_kit.model import (
    AlertHistory,
    AlertTimeline,
    CheckResult,
    Finding,
    Interval,
    Reference,
    Severity,
    StepStatus,
)
from scenario_kit.model.results.matrix import Fired, MatrixRow
from tools import records
from tools.matrix import page, reasons, record
from tools.matrix.lab import build_judged_row, build_row, list_steps
from tools.matrix.pairs import Pair, find_aimless_types, list_pairs, sample, select_first_pairs, takes_effect
from tools.matrix.reasons import Written

PAIR = Pair("otel-demo", "2.2.0", "service-target-port-wrong", 1, "Network", Reference("Service", "cart"))
KINDS = [step.kind for step in list_steps("main")]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog()


@pytest.fixture(scope="module")
def known(catalog: Catalog) -> list[Pair]:
    return list(list_pairs(catalog))


def test_every_fault_has_a_target_or_is_listed(catalog: Catalog, known: list[Pair]) -> None:
    assert len(set(known)) == len(known) > 1000
    without = find_aimless_types(catalog, known)
    assert {p.fault for p in known} | without.keys() == set(catalog.faults())
    assert without["ingress-backend-wrong"] == "no Ingress in any app; needs ingress-controller"


def test_pairs_can_be_narrowed_down(catalog: Catalog) -> None:
    some = list(list_pairs(catalog, ["otel-demo"], ["service-target-port-wrong"]))
    assert {(p.app, p.fault) for p in some} == {("otel-demo", "service-target-port-wrong")}
    assert any(takes_effect(catalog, pair) for pair in some)
    assert not takes_effect(catalog, some[0]._replace(target=Reference("Service", "nobody")))


def test_beginning_of_a_sample_is_spread_wide() -> None:
    some = [
        Pair(app, "1", fault, 1, family, Reference("Deployment", str(n)))
        for family, faults in (("A", ["a"]), ("B", ["b1", "b2"]), ("C", ["c1", "c2", "c3"]))
        for fault in faults
        for app in ("x", "y")
        for n in range(5)
    ]
    order = list(sample(some, seed=1))
    assert sorted(order) == sorted(some)
    assert order == list(sample(some[::-1], seed=1)) != list(sample(some, seed=2))
    assert {p.family for p in order[:3]} == {"A", "B", "C"}
    assert {p.fault for p in order[:9]} == {"a", "b1", "b2", "c1", "c2", "c3"}
    assert {app for p in order[:6] if p.fault == "a" for app in [p.app]} == {"x", "y"}
    assert list(select_first_pairs(order, 5)) == order
    once = list(select_first_pairs(order, 1))
    assert len(once) == len({(p.app, p.fault) for p in once}) == 12
    assert once == [p for p in order if p in once] != order[:12]


def timeline(name: str, on: str, *firing: tuple[float, float | None]) -> AlertTimeline:
    return AlertTimeline(
        name=name, entity=Reference.parse(on) if on else None, firing=tuple(Interval(start=s, end=e) for s, e in firing)
    )


HISTORY = AlertHistory(
    start=0,
    end=3000,
    timelines=(
        timeline("Before", "Pod/a", (500, 1100)),
        timeline("Late", "Deployment/b", (1400, 1500), (1600, 2500)),
        timeline("Early", "Deployment/a", (1300, None)),
        timeline("After", "Deployment/c", (2300, 2400)),
    ),
)


def test_fired_and_still_firing_alerts_are_listed() -> None:
    assert record.list_fired(HISTORY, 1000, 2200) == (
        Fired(name="Early", entity=Reference("Deployment", "a"), seconds=300), Fired(name="Late",
        entity=Reference("Deployment", "b"), seconds=400)
    )  # fmt: skip
    assert record.list_still_firing(HISTORY, 1000, 2450) == ["Early on Deployment/a", "Late on Deployment/b"]
    assert record.list_still_firing(HISTORY, 1000, 2600) == ["Early on Deployment/a"]


def result(outcome: str = "Held", broken: str = "", *, history: AlertHistory | None = HISTORY) -> TrialResult:
    """Build a trial whose step of that kind broke; later steps except clean-up were skipped."""
    at = {"deploy": 100, "expectQuiet": 900, "inject": 1030, "hold": 2200, "change": 2215, "expectCleared": 2600}
    statuses = []
    failed = False
    for index, kind in enumerate(KINDS):
        skipped = failed and kind not in ("teardown", "expectClean")
        state = "Skipped" if skipped else "Broken" if kind == broken else "Held"
        checks = (CheckResult(answer="True", at=1, describe="proof"),) if kind == "inject" and state == "Held" else ()
        statuses.append(
            StepStatus(
                index=index, step=kind, outcome=state, started_at=0, finished_at=at.get(kind, 2700), checks=checks
            )
        )  # fmt: skip
        failed |= kind == broken
    reported = (Finding(code="SK2", severity=Severity.WARNING, message="nobody declared it"),)
    reported += (Finding(code="SK1", severity=Severity.ERROR, message="it broke", observed="so"),) if broken else ()
    return TrialResult(
        name="t", purpose="matrix", describe="", seed=1, outcome=outcome, steps=tuple(statuses), history=history,
        injected_at=None if history is None else 1000, findings=reported, message="down" if outcome == "Infra" else "",
    )  # fmt: skip


def test_row_of_a_completed_pair() -> None:
    quiet = AlertHistory(start=0, end=3000, timelines=(timeline("Late", "Deployment/b", (1400, 2500)),))
    row = build_judged_row(PAIR, result(history=quiet))
    assert (row.outcome, row.recovered, row.clean, row.proven) == ("Ran", True, True, ("proof",))
    assert (row.effective_seconds, row.observed_seconds, row.reported) == (30, 1200, "")
    assert row.alerts == (Fired(name="Late", entity=Reference("Deployment", "b"), seconds=400),)
    assert (record.get_pair(row), row.fault, row.date.year // 100) == (PAIR, PAIR.fault, 20)


@pytest.mark.parametrize(
    ("tried", "outcome", "recovered", "clean", "reported"),
    [
        (result(), "Ran", False, True, "still firing: Early on Deployment/a"),
        (result("Broken", "expectCleared"), "Ran", False, True, "it broke: so; still firing: Early on Deployment/a"),
        (result("Broken", "teardown"), "Ran", False, True, "it broke: so; still firing: Early on Deployment/a"),
        (result("Broken", "inject"), "NoEffect", None, True, "it broke: so"),
        (result("Broken", "inject", history=None), "NoEffect", None, True, "it broke: so"),
        (result("Infra"), "Infra", None, None, "down"),
        (result(history=None), "Infra", None, None, "the trial left no evidence"),
    ],
)
def test_row_of_other_trial_outcomes(
    tried: TrialResult, outcome: str, recovered: bool | None, clean: bool | None, reported: str
) -> None:
    row = build_judged_row(PAIR, tried)
    assert (row.outcome, row.recovered, row.clean, row.reported) == (outcome, recovered, clean, reported)


def test_leftovers_are_recorded() -> None:
    row = build_judged_row(PAIR, result("Broken", "expectClean"))
    assert (row.clean, page.describe_recovery(row)) == (False, "no")


def test_records_survive(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    assert read_rows(path) == []
    other = PAIR._replace(target=Reference("Service", "ad"))
    records.append(path, build_row(PAIR, "Infra", reported="no lab"))
    records.append(path, build_row(other, "Ran"))
    assert record.select_unjudged([PAIR, other], read_rows(path)) == [PAIR]
    records.append(path, build_row(PAIR, "Ran", recovered=True))
    with path.open("ab") as out:
        out.write(b'{"app": "ot')  # the last line of somebody who was killed
    assert Counter(r.outcome for r in read_rows(path)) == {"Ran": 2}
    assert record.select_unjudged([other], [build_row(other, "Lacking")]) == [other]  # a lab may have it today
    assert record.select_unjudged([other, PAIR], [build_row(other, "Lacking")]) == [PAIR, other]
    records.append(path, build_row(other, "NoEffect"))
    assert Counter(r.outcome for r in read_rows(path)) == {"Ran": 1, "NoEffect": 1}
    assert record.select_unjudged([PAIR, PAIR._replace(change=2)], read_rows(path)) == [PAIR._replace(change=2)]


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (PAIR, ""),
        (
            PAIR._replace(fault="pod-kill", family="Chaos", target=Reference("Deployment", "cart")),
            "it ends by itself before any rule fires",
        ),
        (
            PAIR._replace(target=Reference("Service", "load-generator")),
            "load-generator generates the load: rules exclude it",
        ),
    ],
)
def test_reasons_of_the_catalogue(catalog: Catalog, pair: Pair, reason: str) -> None:
    assert reasons.explain_silence(build_row(pair, "Ran"), catalog, []) == reason


def test_reasons(catalog: Catalog) -> None:
    loud = build_row(PAIR, "Ran", alerts=(Fired(name="A", seconds=1),))
    some = [Written("service-*", "it heals", target="Service/c*"), Written("*", "never reached")]
    assert reasons.explain_silence(loud, catalog, some) == ""
    assert reasons.explain_silence(build_row(PAIR, "Ran"), catalog, some) == "it heals"
    assert reasons.explain_silence(build_row(PAIR, "Lacking", reported="x"), catalog, some) == "not tried: x"
    assert reasons.explain_silence(build_row(PAIR, "NoEffect", reported="x"), catalog, some) == "no effect: x"


def test_lasting_symptoms_have_reasons(catalog: Catalog) -> None:
    some = [Written("*", "nothing comes back", of="Recovery")]
    lasting = build_row(PAIR, "Ran", recovered=False)
    assert reasons.explain_persistence(lasting, catalog, some) == "nothing comes back"
    assert reasons.explain_persistence(lasting, catalog, []) == ""
    assert reasons.explain_persistence(build_row(PAIR, "Ran", recovered=True), catalog, some) == ""
    assert reasons.explain_silence(lasting, catalog, some) != "nothing comes back"
    kafka = build_row(PAIR._replace(target=Reference("Deployment", "kafka")), "Ran", recovered=False)
    assert "checkout must be restarted afterwards" in reasons.explain_persistence(kafka, catalog, [])


def test_recorded_reasons_match_existing_pairs(known: list[Pair]) -> None:
    for written in reasons.read_reasons():
        assert any(written.holds(build_row(pair, "Ran")) for pair in known), written


def test_pages() -> None:
    alerts = tuple(
        Fired(name=f"A{n}", entity=Reference("Deployment", "x") if n else None, seconds=60.0 + n) for n in range(6)
    )
    rows = [
        build_row(PAIR, "Ran", alerts=alerts, recovered=True, clean=True),
        build_row(
            PAIR._replace(target=Reference("Service", "ad")),
            "Ran",
            recovered=False,
            clean=True,
            reported="still firing",
        ),
        build_row(
            PAIR._replace(target=Reference("Service", "currency")),
            "Ran",
            alerts=alerts[2:3],
            recovered=False,
            clean=True,
        ),
        build_row(PAIR._replace(target=Reference("Service", "quote")), "Lacking", reported="real-data-plane: no disks"),
        build_row(PAIR._replace(target=Reference("Service", "email")), "Infra", reported="down"),
    ]

    def why(some: MatrixRow) -> str:
        return "not tried: no disks" if some.outcome == "Lacking" else ""

    text = page.render_page(
        rows,
        2530,
        4302,
        {"etcd-slow": "no Pod in any app"},
        why,
        outlasts=lambda r: "it never\nheals" if r.target == "Service/currency" else "",
        untried=[PAIR._replace(fault="pod-kill"), PAIR._replace(fault="cpu-stress")],
    )
    assert "* otel-demo: cpu-stress, pod-kill" in text
    assert "4 of 2,530 pairs so far (fault types: 1). In 1,772 more" in text
    assert "3 ran (2 with alerts, 1 without)" in text
    assert "| 4 | 2 of 3 | 61 s (60–62) | A2 (2), A0 (1), A1 (1), A3 (1) | 1 of 3 |" in text
    assert "Without alerts, for an unknown reason:\n\n* service-target-port-wrong on Service/ad in otel-demo" in text
    assert "for an unknown reason:\n\n* service-target-port-wrong on Service/ad in otel-demo: still firing" in text
    assert "* it never heals:\n    * otel-demo: service-target-port-wrong on currency" in text
    assert "* real-data-plane: no disks:\n    * otel-demo: service-target-port-wrong on quote" in text
    assert "* etcd-slow: no Pod in any app" in text
    assert "[otel-demo 2.2.0](matrix-otel-demo.md)" in text

    lines = page.render_table("otel-demo", "2.2.0", rows, why)
    assert "A0 (60 s); A1 on Deployment/x (61 s)" in lines
    assert "and 2 more | 60 s | yes |" in lines
    assert "| *not tried: no disks* | – | – |" in lines
    assert "email" not in text + lines


def test_page_without_open_pairs_says_so() -> None:
    reported = page.render_page(
        [build_row(PAIR, "Ran", recovered=True, clean=True)], 1, 1, {}, lambda _: "it passes by itself"
    )
    assert "Every row without alerts or recovery is explained below." in reported
    assert "## Pairs without alerts, and why\n\n* it passes by itself:\n" in reported
