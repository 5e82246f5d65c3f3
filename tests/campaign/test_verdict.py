"""From trials to a verdict: static findings, neighbours, infrastructure, and reported findings."""

from dataclasses import replace

import msgspec
import pytest

from scenario_kit.campaign.planning.plans import get_plan
from scenario_kit.campaign.planning.sequential_test import FIVE_THEN_FIVE, ONCE
from scenario_kit.campaign.results.result import Statistics, TrialResult
from scenario_kit.campaign.results.verdict import (
    CatalogEvidence,
    ValidationSubject,
    conclude,
    list_shown,
    merge_findings,
    name_correction,
    reach_verdict,
    suggest_command,
    weigh_findings,
    write_headline,
)
from scenario_kit.model import AlertHistory, AlertTimeline, Finding, Severity, StepStatus, Verdict
from scenario_kit.model.results.evidence import Fingerprint
from scenario_kit.model.results.finding import Position
from scenario_kit.model.runtime.observation import Interval

SUBJECT = ValidationSubject("s", "p", "d", get_plan("standard"))
WORD = {"H": "Held", "B": "Broken", "I": "Infra"}


def finding(code="SK322", severity=Severity.ERROR, message="m", **more):
    return Finding(code=code, severity=severity, message=message, **more)


def trial(purpose, outcome="Held", *steps, findings=(), message="", alerts=()):
    status = tuple(
        StepStatus(index=i, step=s, outcome=outcome if i == len(steps) - 1 else "Held", started_at=0.0)
        for i, s in enumerate(steps)
    )
    timelines = tuple(AlertTimeline(name=a, firing=(Interval(start=300.0),)) for a in alerts)
    return TrialResult(
        name=purpose, purpose=purpose, describe="", seed=1, outcome=outcome, steps=status, findings=tuple(findings),
        message=message, injected_at=100.0, history=AlertHistory(start=0.0, end=2000.0, timelines=timelines),
    )  # fmt: skip


def repeats(outcomes, **more):
    return [trial(f"repeat-{i}", WORD[o], "expectAlerts", **more) for i, o in enumerate(outcomes, start=1)]


@pytest.mark.parametrize(
    ("outcomes", "static", "answer"),
    [
        ("HHHHH", [], Verdict.PASS),
        ("HHHHH", [Severity.WARNING, Severity.NOTE], Verdict.PASS),
        ("HHHHH", [Severity.ERROR], Verdict.FAIL),
        ("HHHHH", [Severity.NOTE, Severity.ERROR], Verdict.FAIL),
        ("", [Severity.ERROR], Verdict.FAIL),
        ("", [Severity.WARNING], Verdict.NOT_EVALUATED),
        ("IIIII", [], Verdict.NOT_EVALUATED),
        ("IIIII", [Severity.ERROR], Verdict.FAIL),
        ("BB", [], Verdict.FAIL),
    ],
)
def test_static_error_fails_the_validation(outcomes, static, answer):
    found = [finding("SK110", severity, str(i)) for i, severity in enumerate(static)]
    assert reach_verdict(repeats(outcomes), found, FIVE_THEN_FIVE) == answer
    validation = conclude(SUBJECT, repeats(outcomes), found, 1.0)
    assert validation.verdict == answer
    assert {f.code for f in validation.findings} == {"SK110"} & {f.code for f in found}


def test_looks_default_to_one():
    assert reach_verdict(repeats("H")) == Verdict.PASS
    assert reach_verdict(repeats("H"), looks=ONCE) == Verdict.PASS
    assert reach_verdict(repeats("H"), looks=FIVE_THEN_FIVE) == Verdict.NOT_EVALUATED


def build_neighbour(answer=("ConfigMap/a",), signs=("field of on ConfigMap/a",), alerts=("E",), app="shop"):
    return Fingerprint(app=app, answer=answer, symptoms=(tuple(alerts),) * 3, signs=signs)


@pytest.mark.parametrize(
    ("other", "code", "answer"),
    [
        (build_neighbour(), "SK452", Verdict.PASS),
        (build_neighbour(answer=("Service/x",)), "SK451", Verdict.FAIL),
        (build_neighbour(answer=("Service/x",), signs=("x",)), "", Verdict.PASS),
        (build_neighbour(answer=("Service/x",), alerts=("Other",)), "", Verdict.PASS),
    ],
    ids=["the same one", "told apart by nothing", "told apart by a sign", "told apart by alerts"],
)
def test_indistinguishable_incident_fails(fault, runbook_of, other, code, answer):
    book = runbook_of(fault("a"), solutions={"s": ["a"]})
    seen = repeats("HHHHH", alerts=("E",))
    evidence = CatalogEvidence({"other": other, "s": build_neighbour()})
    validation = conclude(SUBJECT, seen, [], 1.0, promised=book, evidence=evidence)
    assert validation.verdict == answer
    assert [f.code for f in validation.findings if f.code in ("SK451", "SK452")] == ([code] if code else [])
    assert [n.scenario for n in validation.identifiability] == (["other"] if other.symptoms[0] == ("E",) else [])
    assert validation.fingerprint is not None
    if code == "SK451":
        assert validation.headline.startswith("indistinguishable from 'other'")
        assert validation.next == "scenario-kit verify p --plan standard"
        assert validation.correction.startswith("SK451: make the fault visible")


def test_conclusion_contains_difficulty_fingerprint_and_truth(fault, runbook_of):
    book = runbook_of(msgspec.structs.replace(fault("a"), scope="Cluster"), solutions={"s": ["a"]})
    results = [*repeats("HHHBI"), trial("control")]
    found = conclude(replace(SUBJECT, lab="mine"), results, [], 12.5, promised=book)
    assert (found.scenario, found.path, found.digest, found.plan, found.wall_seconds) == (
        "s",
        "p",
        "d",
        "standard",
        12.5,
    )
    assert (found.n, found.failures, found.trials) == (4, 1, tuple(results))
    assert (found.statistics.n, found.statistics.broken, found.statistics.infra) == (4, 1, 1)
    assert found.verdict == Verdict.NOT_EVALUATED
    assert found.next == "scenario-kit lab status --name mine"
    assert found.ground_truth == book.ground_truth
    assert found.difficulty is not None
    assert [a.allow for a in found.exceptions] == ["Cluster"]
    assert found.correction == ""
    without = conclude(SUBJECT, results, [], 12.5)
    assert (without.statistics, without.difficulty, without.fingerprint, without.resemblance) == (None,) * 4
    assert (without.ground_truth, without.expect, without.exceptions) == (None, None, ())


@pytest.mark.parametrize(
    ("outcomes", "broken", "observed", "severity"),
    [
        ("B", [1], "nothing", Severity.ERROR),
        ("BBH", [1, 2], "nothing; in 2 of 3 repeats", Severity.ERROR),
        ("BHI", [1], "nothing; in 1 of 2 repeats", Severity.ERROR),
        ("HHHHBHHHHH", [5], "nothing; in 1 of 10 repeats", Severity.WARNING),
        ("BI", [1], "nothing", Severity.ERROR),
    ],
)
def test_repeat_finding_counts_affected_repeats(outcomes, broken, observed, severity):
    results = [
        msgspec.structs.replace(r, findings=(finding(observed="nothing"),)) if i in broken else r
        for i, r in enumerate(repeats(outcomes), start=1)
    ]
    (found,) = conclude(SUBJECT, results, [], 1.0).findings
    assert (found.observed, found.severity) == (observed, severity)


def test_unobserved_metric_shows_only_count():
    results = [msgspec.structs.replace(r, findings=(finding(),)) for r in repeats("BB")]
    assert conclude(SUBJECT, results, [], 1.0).findings[0].observed == "in 2 of 2 repeats"


def test_repeats_are_counted_by_code_and_message():
    one, other = finding(message="one"), finding("SK304", message="one")
    results = [msgspec.structs.replace(r, findings=f) for r, f in zip(repeats("BB"), ((one,), (other,)), strict=True)]
    found = conclude(SUBJECT, results, [], 1.0).findings
    assert [f.observed for f in found] == ["in 1 of 2 repeats"] * 2


def test_findings_of_other_trials_are_unchanged():
    results = [*repeats("HHHHH"), trial("label", "Broken", findings=[finding("SK401", observed="x")])]
    (found,) = conclude(SUBJECT, results, [], 1.0).findings
    assert (found.code, found.observed, found.severity) == ("SK401", "x", Severity.ERROR)


def numbers(n, broken, **more):
    return Statistics(n=n, broken=broken, at_least=0.5, claims=0.8, **more)


@pytest.mark.parametrize(
    ("answer", "n", "broken", "code"),
    [
        (Verdict.FAIL, 5, 2, ("SK501", Severity.ERROR)),
        (Verdict.INCONCLUSIVE, 10, 2, ("SK502", Severity.WARNING)),
        (Verdict.FAIL, 10, 2, ("SK502", Severity.WARNING)),
        (Verdict.PASS, 10, 1, None),
        (Verdict.NOT_EVALUATED, 5, 2, None),
        (Verdict.FAIL, 5, 0, None),
        (Verdict.FAIL, 1, 1, None),
        (Verdict.FAIL, 2, 2, ("SK501", Severity.ERROR)),
    ],
)
def test_broken_repeat_count_is_a_finding(answer, n, broken, code):
    found = weigh_findings(answer, FIVE_THEN_FIVE, repeats("B" * broken + "H" * (n - broken)), numbers(n, broken))
    assert [(f.code, f.severity) for f in found] == ([code] if code else [])
    for each in found:
        assert each.message.startswith(f"{broken} of {n} repeats broke")
        assert "0.50" in each.observed
        assert "0.80" in each.expected


def test_most_frequent_broken_step_is_named():
    results = [
        trial("repeat-1", "Broken", "hold"),
        trial("repeat-2", "Broken", "inject", "expectAlerts"),
        trial("repeat-3", "Broken", "inject", "expectAlerts"),
        *(trial(f"cheats-{i}", "Broken", "cheat") for i in range(3)),
    ]
    assert "'expectAlerts'" in weigh_findings(Verdict.FAIL, FIVE_THEN_FIVE, results, numbers(5, 3))[0].message
    assert "an unknown step" in weigh_findings(Verdict.FAIL, FIVE_THEN_FIVE, [], numbers(5, 3))[0].message


@pytest.mark.parametrize(
    ("claims", "fix"),
    [(0.8, "reliable; 20 more repeats that all hold would also decide"), (0.3, "make it more reliable")],
)
def test_inconclusive_finding_suggests_more_repeats(claims, fix):
    (found,) = weigh_findings(
        Verdict.INCONCLUSIVE,
        FIVE_THEN_FIVE,
        repeats("HHHHHHHHBB"),
        msgspec.structs.replace(numbers(10, 2), claims=claims),
    )
    assert found.fix.endswith(fix)


def test_merged_findings_are_sorted_and_unique():
    one, two, three = finding("A", Severity.NOTE), finding("B", Severity.WARNING), finding("C", Severity.ERROR)
    again, other = finding("C", Severity.ERROR, observed="later"), finding("C", Severity.ERROR, "other")
    assert merge_findings([one, two, three, again, other]) == (three, other, two, one)


@pytest.mark.parametrize(
    ("answer", "results", "findings", "line"),
    [
        (Verdict.FAIL, [], [finding(message="first"), finding(message="second")], "first"),
        (Verdict.FAIL, [], [], "a trial broke"),
        (Verdict.PASS, [trial("repeat-1", "Held", "hold", "expectAlerts"), trial("label", "Broken")], [],
         "1 of 2 trials held: it reproduces (twin)"),
        (Verdict.NOT_EVALUATED, [], [finding("SK911", Severity.WARNING, "it needs x")],
         "it needs x; nothing to change in the scenario"),
        (Verdict.NOT_EVALUATED, [trial("control"), trial("label", "Infra", message="no node")], [finding("SK303")],
         "not evaluated, infrastructure failed; nothing to change in the scenario: no node"),
        (Verdict.NOT_EVALUATED, [trial("control", message="fine")], [],
         "not evaluated, infrastructure failed; nothing to change in the scenario: no trial ended"),
        (Verdict.INCONCLUSIVE, [], [], "Inconclusive"),
    ],
)  # fmt: skip
def test_headline(answer, results, findings, line):
    assert write_headline(answer, results, findings) == line


@pytest.mark.parametrize(("plane", "word"), [("Twin", "twin"), ("RealNode", "real node"), ("Kind", "kind")])
def test_headline_of_a_pass_names_the_data_plane(plane: str, word: str) -> None:
    results = [trial("repeat-1", "Held", "hold", "expectAlerts")]
    assert write_headline(Verdict.PASS, results, [], plane).endswith(f"({word})")


STEPS = ("inject", "expectAlerts", "hold")
DECOY, OTHER = "undoChange Decoy a", "undoChange Decoy b"


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ([], []),
        ([trial("repeat-1", "Held", *STEPS)], ["it reproduces"]),
        ([trial(f"repeat-{i}", "Held", *STEPS) for i in (1, 2)], ["it reproduces 2 times"]),
        ([trial("repeat-1", "Held", "inject", "hold")], ["no fault and no alert"]),
        (
            [trial(f"repeat-{i}", "Held", "inject", "hold") for i in (1, 2)],
            ["no fault and no alert 2 times"],
        ),
        ([trial("repeat-1", "Held", "inject")], ["it reproduces"]),
        ([trial("repeat-1", "Held", *STEPS, "expectCleared")], ["it reproduces", "no alert of it lasts"]),
        ([trial("label")], ["the label is the cause"]),
        ([trial("label-artefact-1")], ["the label is the cause"]),
        ([trial("leave-out-1")], ["the cause that is left keeps it going"]),
        ([trial("leave-out-1"), trial("leave-out-2")], ["each of 2 causes keeps it going"]),
        (
            [trial("repeat-1", "Held", *STEPS, "expectCleared Solution s")],
            ["it reproduces", "the solution resolves it"],
        ),
        (
            [
                trial("solution-2", "Held", "expectCleared Solution s"),
                trial("solution-3", "Held", "expectCleared Solution t"),
            ],
            ["2 solutions resolve it"],
        ),
        ([trial("other-2", "Held", "expectCleared Solution s")], []),
        ([trial("repeat-1", "Held", *STEPS, DECOY)], ["it reproduces", "the decoy does not"]),
        ([trial("decoys", "Held", DECOY, OTHER)], ["2 decoys do not"]),
        ([trial("other", "Held", DECOY)], []),
        ([trial("ending-1")], ["the fault ends as its type says"]),
        ([trial("cheats")], ["no cheat does"]),
        ([trial("distractors")], ["the distractors alone raise no alert"]),
        ([trial("untriggered")], ["it does not occur without its trigger"]),
        ([trial("undisturbed")], ["it occurs without its distractors"]),
        ([trial("leaks", "Held", "expectNoLeaks")], ["nothing that a solver reads gives it away"]),
        ([trial("control", "Held", "expectQuiet rollout")], ["a rollout alone fires nothing"]),
        ([trial("control", "Held", "expectQuiet")], []),
        ([trial("control"), trial("repeat-1", "Held", *STEPS)], ["it reproduces", "without the fault nothing fires"]),
    ],
)
def test_list_shown_describes_held_trials(results, message):
    assert list_shown(results) == message


def test_correction_is_the_first_findings_fix_with_position():
    at = Position(path="s.yaml", line=3, column=1)
    assert name_correction(Verdict.FAIL, [finding(fix="do", position=at), finding()]) == f"SK322: do ({at})"
    assert name_correction(Verdict.FAIL, [finding(fix="do")]) == "SK322: do"
    assert name_correction(Verdict.FAIL, [finding(expected="that")]) == "SK322: that"
    assert name_correction(Verdict.FAIL, [finding(message="this")]) == "SK322: this"
    assert name_correction(Verdict.FAIL, []) == ""
    assert name_correction(Verdict.PASS, [finding(fix="do")]) == ""


SEEN = {"trial": "t"}


@pytest.mark.parametrize(
    ("answer", "plan", "findings", "lab", "command"),
    [
        (Verdict.PASS, "try", [], "mine", "scenario-kit verify p --name mine"),
        (Verdict.PASS, "try", [], "default", "scenario-kit verify p"),
        (Verdict.PASS, "thorough", [], "", ""),
        (Verdict.PASS, "quick", [], "mine", "scenario-kit verify p --plan standard --name mine"),
        (Verdict.FAIL, "quick", [], "", "scenario-kit lab status"),
        (Verdict.FAIL, "standard", [finding("SK110")], "mine", "scenario-kit lint p"),
        (
            Verdict.FAIL,
            "standard",
            [finding("SK110"), finding("SK322", **SEEN)],
            "",
            "scenario-kit verify p --plan standard",
        ),
        (Verdict.FAIL, "standard", [finding("SK322", step="hold")], "", "scenario-kit try p --accept"),
        (
            Verdict.FAIL,
            "standard",
            [finding("SK322", **SEEN), finding("SK304", **SEEN)],
            "",
            "scenario-kit verify p --plan standard",
        ),
        (
            Verdict.FAIL,
            "standard",
            [finding("SK322", **SEEN), finding("SK303", Severity.WARNING, **SEEN)],
            "mine",
            "scenario-kit try p --accept --name mine",
        ),
        (Verdict.FAIL, "try", [finding("SK304", **SEEN)], "mine", "scenario-kit try p --name mine"),
        (Verdict.FAIL, "quick", [finding("SK304", **SEEN)], "", "scenario-kit verify p"),
        (Verdict.FAIL, "thorough", [finding("SK304", **SEEN)], "", "scenario-kit verify p --plan thorough"),
        (Verdict.FAIL, "mine", [finding("SK304", **SEEN)], "", "scenario-kit verify p"),
        (Verdict.FAIL, "standard", [finding("SK451")], "", "scenario-kit verify p --plan standard"),
        (Verdict.FAIL, "standard", [finding("SK501"), finding("SK110")], "", "scenario-kit lint p"),
        (Verdict.FAIL, "standard", [finding("SK110", Severity.WARNING)], "", "scenario-kit verify p --plan standard"),
        (
            Verdict.INCONCLUSIVE,
            "standard",
            [finding("SK502", Severity.WARNING)],
            "mine",
            "scenario-kit lab status --name mine",
        ),
        (Verdict.NOT_EVALUATED, "standard", [finding("SK303"), finding("SK911")], "mine", "scenario-kit explain SK911"),
    ],
)
def test_command_to_run_next(answer, plan, findings, lab, command):
    assert suggest_command(answer, "p", plan, findings, lab) == command
