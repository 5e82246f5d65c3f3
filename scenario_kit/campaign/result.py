"""What a validation found: its trials, its findings, its verdict. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from scenario_kit.model import AlertHistory, Finding, Severity, StepStatus, Value, Verdict
from scenario_kit.trial import TrialStatus

#: The environment lacks a capability that the scenario needs.
LACKING: Final = "SK911"


class TrialResult(Value, frozen=True, kw_only=True):
    """One finished trial, with its evidence. ``wall_seconds`` is what it cost."""

    name: str
    purpose: str
    describe: str
    seed: int
    outcome: str
    wall_seconds: float = 0.0
    started_at: float | None = None
    injected_at: float | None = None
    steps: tuple[StepStatus, ...] = ()
    findings: tuple[Finding, ...] = ()
    history: AlertHistory | None = None
    message: str = ""


class Validation(Value, frozen=True, kw_only=True):
    """A campaign and its verdict. ``n`` counts valid repeats, ``failures`` the broken ones among them."""

    scenario: str
    path: str = ""
    digest: str = ""
    plan: str
    verdict: Verdict
    headline: str
    findings: tuple[Finding, ...] = ()
    trials: tuple[TrialResult, ...] = ()
    n: int = 0
    failures: int = 0
    wall_seconds: float = 0.0
    data_plane: str = "Twin"
    next: str = ""


def verdict(results: Sequence[TrialResult], static: Iterable[Finding] = ()) -> Verdict:
    """Fail if anything attributable to the scenario is broken; NotEvaluated if infrastructure kept us from judging."""
    if any(f.severity == Severity.ERROR for f in static) or any(r.outcome == "Broken" for r in results):
        return Verdict.FAIL
    if not results or any(r.outcome != "Held" for r in results):
        return Verdict.NOT_EVALUATED
    return Verdict.PASS


def conclude(
    scenario: str,
    path: str,
    digest: str,
    plan: str,
    results: Sequence[TrialResult],
    static: Sequence[Finding],
    wall: float,
    lab: str = "",
) -> Validation:
    """Sum a campaign up. Findings come once each, errors first. ``lab`` is named where it is not the default one."""
    answer = verdict(results, static)
    repeats = [r for r in results if r.purpose.startswith("repeat") and r.outcome in ("Held", "Broken")]
    findings = merged([*static, *(f for r in results for f in r.findings)])
    return Validation(
        scenario=scenario,
        path=path,
        digest=digest,
        plan=plan,
        verdict=answer,
        headline=headline(answer, results, findings),
        findings=findings,
        trials=tuple(results),
        n=len(repeats),
        failures=sum(r.outcome == "Broken" for r in repeats),
        wall_seconds=wall,
        next=next_command(answer, path, plan, findings, lab),
    )


def merged(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings without repetitions across trials, errors first, in order of their first appearance."""
    unique: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        unique.setdefault((finding.code, finding.message), finding)
    order = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}
    return tuple(sorted(unique.values(), key=lambda f: order[f.severity]))


def headline(answer: Verdict, results: Sequence[TrialResult], findings: Sequence[Finding]) -> str:
    """One sentence that says what the evidence is worth."""
    held = sum(r.outcome == "Held" for r in results)
    match answer:
        case Verdict.PASS:
            return f"{held} of {len(results)} trials held: {', '.join(shown(results))} (twin)"
        case Verdict.FAIL:
            return findings[0].message if findings else "a trial broke"
        case Verdict.NOT_EVALUATED:
            if lack := next((f.message for f in findings if f.code == LACKING), ""):
                return f"{lack}; nothing to change in the scenario"
            infra = next((r.message for r in results if r.outcome == "Infra"), "no trial ended")
            return f"infrastructure kept us from judging, nothing to change in the scenario: {infra}"
        case _:
            return str(answer)


def shown(results: Sequence[TrialResult]) -> list[str]:
    """What trials that held have shown, and nothing that none of them tried."""
    repeats = [r for r in results if r.purpose.startswith("repeat")]
    purposes = {r.purpose for r in results}
    decoys = {s.step for r in repeats for s in r.steps if s.step.startswith("undoChange")}
    ways = {
        s.step
        for r in results
        for s in r.steps
        if s.step.startswith("expectCleared ") and r.purpose.startswith(("repeat", "solution"))
    }
    left = [p for p in purposes if p.startswith("leave-out")]
    said = [
        *_repeated(repeats),
        "the label is the cause" if any(p == "label" or p.startswith("label-") for p in purposes) else "",
        _counted(len(left), "the cause that is left keeps it going", "each of {} causes keeps it going"),
        _counted(len(ways), "the solution resolves it", "{} solutions resolve it"),
        _counted(len(decoys), "the decoy does not", "{} decoys do not"),
        "the distractors alone disturb nobody" if "distractors" in purposes else "",
        "without the fault nothing fires" if "control" in purposes and repeats else "",
    ]
    return [text for text in said if text]


def _repeated(repeats: Sequence[TrialResult]) -> list[str]:
    """What the repeats are evidence of; how they end tells an incident from what is none."""
    if not repeats:
        return []
    times = f" {len(repeats)} times" if len(repeats) > 1 else ""
    steps = {s.step for r in repeats for s in r.steps}
    if "expectAlerts" not in steps and "hold" in steps:
        return ["nothing is broken and nothing fires" + times]
    return ["it reproduces" + times, "it passes by itself" if "expectCleared" in steps else ""]


def _counted(number: int, one: str, many: str) -> str:
    return "" if number == 0 else one if number == 1 else many.format(number)


def next_command(answer: Verdict, path: str, plan: str, findings: Sequence[Finding], lab: str = "") -> str:
    """The one command that a reader should run next; a pass is followed by its report, which is not written yet."""
    where = f" --name {lab}" if lab not in ("", "default") else ""
    if answer == Verdict.PASS:
        return f"scenario-kit verify {path}{where}" if plan == "try" else ""
    if answer == Verdict.FAIL and findings:
        return f"scenario-kit explain {findings[0].code}"
    if any(f.code == LACKING for f in findings):
        return f"scenario-kit explain {LACKING}"
    return f"scenario-kit lab status{where}"


def from_status(
    base: TrialResult,
    status: TrialStatus,
    history: AlertHistory | None,
    injected_at: float | None,
    trouble: str = "",
) -> TrialResult:
    """A planned trial completed with what its status says; ``trouble`` is why it did not end by itself."""
    failed = next((s for s in status.steps if s.outcome in ("Broken", "Infra")), None)
    return msgspec.structs.replace(
        base,
        outcome=status.outcome or "Infra",
        started_at=status.started_at,
        injected_at=injected_at,
        steps=status.steps,
        findings=status.findings,
        history=history,
        message=trouble or (failed.message if failed else ""),
    )
