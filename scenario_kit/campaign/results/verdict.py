"""Conclude a campaign: findings, statistics, headline, next command. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from scenario_kit.campaign.interventions import rollout_control
from scenario_kit.campaign.planning.assumptions import find_decisive_assumptions
from scenario_kit.campaign.planning.plans import Plan
from scenario_kit.campaign.planning.retries import counts, judge_trials
from scenario_kit.campaign.planning.sequential_test import ONCE, Look, decide, repeats_for
from scenario_kit.campaign.results.difficulty import measure_difficulty
from scenario_kit.campaign.results.exceptions import list_allowances
from scenario_kit.campaign.results.identifiability import find_neighbours, judge_neighbours, take_fingerprint
from scenario_kit.campaign.results.incident import fill_deadlines
from scenario_kit.campaign.results.remarks import make_remarks
from scenario_kit.campaign.results.result import Statistics, TrialResult, Validation
from scenario_kit.campaign.results.similar_faults import find_resemblance
from scenario_kit.campaign.results.summary import summarise
from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding, Runbook, Severity, Verdict
from scenario_kit.model.results.evidence import Fingerprint
from scenario_kit.model.results.incident import Incident
from scenario_kit.model.results.matrix import MatrixRow
from scenario_kit.model.results.purpose import LABEL_KINDS, Purpose, PurposeKind, is_repeat

#: The environment lacks a capability that the scenario needs.
LACKING: Final = "SK911"
#: Purposes of trials with decoys.
_WITH_DECOYS: Final = frozenset({PurposeKind.REPEAT, PurposeKind.DECOYS, PurposeKind.DECOYS_LEFT})
#: The next stronger plan.
_FOLLOWING: Final = {"try": "quick", "quick": "standard"}
#: Findings on wrong alert expectations, which one trial can correct.
PROMISES: Final = frozenset({"SK321", "SK322", "SK323", "SK326", "SK327"})
#: Findings on a campaign's statistics, which belong to no single trial.
_BY_TRIALS: Final = frozenset({"SK451", "SK501", "SK502", "SK503"})


def reach_verdict(
    results: Sequence[TrialResult], static: Iterable[Finding] = (), looks: Sequence[Look] = ONCE
) -> Verdict:
    """Return Fail if a static or trial finding is an error, NotEvaluated if infrastructure failed."""
    if any(f.severity == Severity.ERROR for f in static):
        return Verdict.FAIL
    return judge_trials(looks, results)


@dataclass(frozen=True)
class ValidationSubject:
    """The validated scenario with its plan, and a summary of the incident.

    ``path`` is empty if the scenario is not in a file, ``digest`` if it could not be resolved, ``lab`` for the default
    lab. ``data_plane`` is what served the app's traffic.
    """

    scenario: str
    path: str
    digest: str
    plan: Plan
    incident: Incident | None = None
    lab: str = ""
    data_plane: str = "Twin"


@dataclass(frozen=True)
class CatalogEvidence:
    """Evidence in the catalogue: fingerprints of other incidents, and the app's matrix."""

    fingerprints: Mapping[str, Fingerprint] = field(default_factory=dict)
    matrix: Sequence[MatrixRow] = ()


def conclude(
    subject: ValidationSubject,
    results: Sequence[TrialResult],
    static: Sequence[Finding],
    wall: float,
    *,
    promised: Runbook | None = None,
    evidence: CatalogEvidence | None = None,
) -> Validation:
    """Summarise a campaign. Findings are deduplicated, errors first.

    ``promised`` is the resolved scenario; without it there are no statistics.
    """
    looks, known = subject.plan.looks, evidence or CatalogEvidence()
    seen = take_fingerprint(promised, results) if promised is not None else None
    others = {name: f for name, f in known.fingerprints.items() if name != subject.scenario}
    near = find_neighbours(seen, others) if seen else []
    static = [*static, *judge_neighbours(near)]
    answer = reach_verdict(results, static, looks)
    numbers = None
    remarked: list[Finding] = []
    expect = fill_deadlines(promised) if promised is not None else None
    if promised is not None and expect is not None and results:
        numbers = summarise(looks, results, expect, promised.ground_truth.propagation)
        repeats = [r for r in results if is_repeat(r.purpose)]
        remarked = [
            *make_remarks(numbers),
            *weigh_findings(answer, looks, results, numbers),
            *find_decisive_assumptions(repeats, promised.app),
        ]
    findings = merge_findings([*static, *_collect_findings(results, answer), *remarked])
    held, broken = counts(results)
    return Validation(
        scenario=subject.scenario,
        incident=subject.incident,
        path=subject.path,
        digest=subject.digest,
        plan=subject.plan.name,
        verdict=answer,
        headline=write_headline(answer, results, findings, subject.data_plane),
        data_plane=subject.data_plane,
        findings=findings,
        trials=tuple(results),
        n=held + broken,
        failures=broken,
        statistics=numbers,
        difficulty=measure_difficulty(promised, results) if promised is not None else None,
        fingerprint=seen,
        identifiability=tuple(near),
        resemblance=find_resemblance(promised, results, known.matrix) if promised is not None else None,
        exceptions=list_allowances(promised.faults) if promised else (),
        expect=expect,
        ground_truth=promised.ground_truth if promised else None,
        wall_seconds=wall,
        correction=name_correction(answer, findings),
        next=suggest_command(answer, subject.path, subject.plan.name, findings, subject.lab),
    )


def _collect_findings(results: Sequence[TrialResult], answer: Verdict) -> list[Finding]:
    """Return the findings of trials; those of repeats include a count, and are warnings if the plan passes anyway."""
    repeats = [r for r in results if is_repeat(r.purpose) and r.outcome != "Infra"]
    found = []
    for result in results:
        for finding in result.findings:
            if is_repeat(result.purpose) and len(repeats) > 1:
                same = sum(any(_is_same(f, finding) for f in r.findings) for r in repeats)
                reported = f"{finding.observed}; in {same} of {len(repeats)} repeats".removeprefix("; ")
                tolerated = answer == Verdict.PASS and finding.severity == Severity.ERROR
                severity = Severity.WARNING if tolerated else finding.severity
                found.append(msgspec.structs.replace(finding, observed=reported, severity=severity))
            else:
                found.append(finding)
    return found


def _is_same(one: Finding, other: Finding) -> bool:
    return (one.code, one.message) == (other.code, other.message)


def weigh_findings(
    answer: Verdict, looks: Sequence[Look], results: Sequence[TrialResult], numbers: Statistics
) -> list[Finding]:
    """Report the number of broken repeats if there were too many, or too few to decide."""
    if numbers.n < 2 or answer not in (Verdict.FAIL, Verdict.INCONCLUSIVE) or not numbers.broken:
        return []
    if decide(looks, numbers.n - numbers.broken, numbers.broken).verdict == Verdict.FAIL:
        steps = Counter(s.step for r in results if is_repeat(r.purpose) for s in r.steps if s.outcome == "Broken")
        stage = steps.most_common(1)[0][0] if steps else "an unknown step"
        return [
            build_finding(
                "SK501",
                message=f"{numbers.broken} of {numbers.n} repeats broke, most of them in step '{stage}'",
                observed=f"a repeat holds with a probability of at least {numbers.at_least:.2f} (95 %)",
                expected=f"evidence for more than {numbers.claims:.2f}",
                fix="look at that step in the repeats that broke: scenario-kit report",
            )
        ]
    more = repeats_for(numbers.claims, numbers.broken) - numbers.n
    return [
        build_finding(
            "SK502",
            message=f"{numbers.broken} of {numbers.n} repeats broke, which is between the bounds of the plan",
            observed=f"a repeat holds with a probability of at least {numbers.at_least:.2f} (95 %)",
            expected=f"evidence for more than {numbers.claims:.2f}",
            fix=f"make it more reliable; {more} more repeats that all hold would also decide"
            if more > 0
            else "make it more reliable",
        )
    ]


def merge_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Deduplicate findings across trials, errors first, in order of first appearance."""
    unique: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        unique.setdefault((finding.code, finding.message), finding)
    order = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}
    return tuple(sorted(unique.values(), key=lambda f: order[f.severity]))


#: Data planes in a headline.
_PLANES: Final = {"Twin": "twin", "RealNode": "real node", "Kind": "kind"}


def write_headline(
    answer: Verdict, results: Sequence[TrialResult], findings: Sequence[Finding], data_plane: str = "Twin"
) -> str:
    """Write a one-sentence summary of the result."""
    held = [r for r in results if r.outcome == "Held"]
    judged = sum(r.outcome != "Infra" for r in results)
    match answer:
        case Verdict.PASS:
            plane = _PLANES.get(data_plane, data_plane)
            return f"{len(held)} of {judged} trials held: {', '.join(list_shown(held))} ({plane})"
        case Verdict.FAIL:
            return findings[0].message if findings else "a trial broke"
        case Verdict.NOT_EVALUATED:
            if lack := next((f.message for f in findings if f.code == LACKING), ""):
                return f"{lack}; nothing to change in the scenario"
            infra = next((r.message for r in results if r.outcome == "Infra"), "no trial ended")
            return f"not evaluated, infrastructure failed; nothing to change in the scenario: {infra}"
        case _:
            return str(answer)


def list_shown(results: Sequence[TrialResult]) -> list[str]:
    """Return what trials that held have shown."""
    repeats = [r for r in results if is_repeat(r.purpose)]
    by_kind = [(Purpose.parse(r.purpose).kind, r) for r in results]
    kinds = Counter(kind for kind, _ in by_kind)
    decoys = {s.step for kind, r in by_kind if kind in _WITH_DECOYS for s in r.steps if s.kind == "undoChange"}
    ways = {
        s.step
        for kind, r in by_kind
        for s in r.steps
        if kind in (PurposeKind.REPEAT, PurposeKind.SOLUTION) and s.kind == "expectCleared" and s.name
    }
    steps = [s for r in results for s in r.steps]
    texts = [
        *_describe_repeats(repeats),
        "the label is the cause" if not LABEL_KINDS.isdisjoint(kinds) else "",
        _format_count(
            kinds[PurposeKind.LEAVE_OUT], "the cause that is left keeps it going", "each of {} causes keeps it going"
        ),
        _format_count(len(ways), "the solution resolves it", "{} solutions resolve it"),
        _format_count(len(decoys), "the decoy does not", "{} decoys do not"),
        "the fault ends as its type says" if PurposeKind.ENDING in kinds else "",
        "no cheat does" if PurposeKind.CHEATS in kinds else "",
        "the distractors alone raise no alert" if PurposeKind.DISTRACTORS in kinds else "",
        "it does not occur without its trigger" if PurposeKind.UNTRIGGERED in kinds else "",
        "it occurs without its distractors" if PurposeKind.UNDISTURBED in kinds else "",
        "nothing that a solver reads gives it away" if any(s.kind == "expectNoLeaks" for s in steps) else "",
        "a rollout alone fires nothing"
        if any(s.kind == "expectQuiet" and s.name == rollout_control.NAME for s in steps)
        else "",
        "without the fault nothing fires" if PurposeKind.CONTROL in kinds and repeats else "",
    ]
    return [text for text in texts if text]


def _describe_repeats(repeats: Sequence[TrialResult]) -> list[str]:
    """Describe what the repeats show, by the kind of their steps."""
    if not repeats:
        return []
    times = f" {len(repeats)} times" if len(repeats) > 1 else ""
    kinds = {s.kind for r in repeats for s in r.steps}
    if "expectAlerts" not in kinds and "hold" in kinds:
        return ["no fault and no alert" + times]
    return [
        "it reproduces" + times,
        "no alert of it lasts"
        if any(s.kind == "expectCleared" and not s.name for r in repeats for s in r.steps)
        else "",
    ]


def _format_count(number: int, one: str, many: str) -> str:
    return "" if number == 0 else one if number == 1 else many.format(number)


def name_correction(answer: Verdict, findings: Sequence[Finding]) -> str:
    """Return what to change before the next command: the fix of the first finding, with its place."""
    if answer != Verdict.FAIL or not findings:
        return ""
    first = findings[0]
    place = f" ({first.position})" if first.position else ""
    return f"{first.code}: {first.fix or first.expected or first.message}{place}"


def suggest_command(answer: Verdict, path: str, plan: str, findings: Sequence[Finding], lab: str = "") -> str:
    """Return the command to run next.

    After a pass it is the next stronger plan. After a failure, it verifies the correction: lint for static findings, a
    trial that proposes expectations for wrong ones, otherwise the same plan.
    """
    where = f" --name {lab}" if lab not in ("", "default") else ""
    match answer:
        case Verdict.PASS:
            following = _FOLLOWING.get(plan)
            return f"scenario-kit verify {path}{_format_plan_option(following)}{where}" if following else ""
        case Verdict.FAIL if findings:
            codes = {f.code for f in findings if f.severity == Severity.ERROR}
            if not any(f.trial or f.step for f in findings if f.severity == Severity.ERROR) and codes - _BY_TRIALS:
                return f"scenario-kit lint {path}"
            if codes and codes <= PROMISES:
                return f"scenario-kit try {path} --accept{where}"
            return f"scenario-kit {'try' if plan == 'try' else 'verify'} {path}{_format_plan_option(plan)}{where}"
        case _ if any(f.code == LACKING for f in findings):
            return f"scenario-kit explain {LACKING}"
        case _:
            return f"scenario-kit lab status{where}"


def _format_plan_option(plan: str) -> str:
    """Return the option for a plan, except for custom ones, whose path is unknown here."""
    return f" --plan {plan}" if plan in ("standard", "thorough") else ""
