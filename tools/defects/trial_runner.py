"""Runs defective copies in a lab as ``verify`` would, until the right finding appears."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from scenario_kit.campaign import PlannedTrial, ValidationSubject, conclude, get_plan, plan_trials
from scenario_kit.campaign.planning.concurrency import limit_concurrency
from scenario_kit.campaign.results.result import TrialResult
from scenario_kit.catalog.capabilities import list_capabilities
from scenario_kit.errors import AuthoringError
from scenario_kit.judge.capabilities import find_unmet_needs
from scenario_kit.lab.capabilities import offers_capability
from scenario_kit.lint import lint_files
from scenario_kit.load import load_scenario
from scenario_kit.model import Finding, Runbook, Scenario, Severity
from scenario_kit.model.results.purpose import Purpose
from tools.defects.kind import Defect, Kind
from tools.defects.lint_runner import write_copy
from tools.defects.record import UNTOUCHED, Answer, Caught, classify_findings, digest_copy
from tools.defects.subject import Subject
from tools.trials import TrialBench

_SEED: Final = 1
_PARALLEL: Final = 2


class Bench(TrialBench):
    """A lab, and the catalogue of the scenarios that it runs."""

    def judge(self, kind: Kind, subject: Subject, defect: Defect, root: Path) -> Caught:
        """Return the result of verifying one defective copy; ``root`` is an empty folder."""
        started = time.monotonic()
        paths = write_copy(defect, subject, root)
        static = lint_files(paths, self._catalog)
        refused = sorted({f.code for f in _list_counting(static, frozenset())})  # an author would correct these first
        if refused and not kind.codes & {f.code for f in static}:
            reported = f"lint refuses it for another reason: {', '.join(refused)}"
            return Caught(
                kind=kind.name,
                scenario=subject.name,
                answer="NotApplied",
                reported=reported,
                digest=digest_copy(defect),
                date=_format_today(),
            )
        plan = "standard" if kind.stage == "Standard" else "quick"
        found, by, ended = self._find_right(kind, paths[0], static, plan, digest_copy(defect))
        codes = tuple(sorted({f.code for f in found}))
        result: Answer = classify_findings(kind, codes) if codes or ended else "Infra"
        says = next((f.message for f in found if f.code in kind.codes), found[0].message if found else "")
        return Caught(
            kind=kind.name, scenario=subject.name, answer=result, codes=codes, by=by, reported=defect.reported,
            seconds=round(time.monotonic() - started, 1), digest=digest_copy(defect), says=says, date=_format_today(),
            beside=() if result == "Right" else
            tuple(f"{f.code} {f.message}: {f.observed}"[:300] for f in found),
        )  # fmt: skip

    def judge_untouched(self, subject: Subject) -> Caught:
        """Return the result of ``verify --plan quick`` for the scenario as it is."""
        started = time.monotonic()
        scenario = load_scenario(subject.path).scenario
        sample = self._resolve_sample(scenario, subject.path)
        results = self._run(
            plan_trials(get_plan("quick"), sample, _SEED), scenario, subject.path, sample, "quick", sample.digest
        )
        found = _list_counting([f for r in results for f in r.findings], frozenset())
        infra = any(r.outcome == "Infra" for r in results)
        return Caught(
            kind=UNTOUCHED, scenario=subject.name, answer="Other" if found else "Infra" if infra else "Missed",
            codes=tuple(sorted({f.code for f in found})), seconds=round(time.monotonic() - started, 1),
            says=found[0].message if found else "", digest="quick", date=_format_today(),
        )  # fmt: skip

    def _find_right(
        self, kind: Kind, path: Path, static: Sequence[Finding], plan: str, unique: str
    ) -> tuple[list[Finding], str, bool]:
        """Return findings that count, the source of the right one (or else the first), and whether all was judged."""
        if found := _list_counting(static, kind.codes):
            return found, "lint", True
        scenario = load_scenario(path).scenario
        try:
            sample = self._resolve_sample(scenario, path)
        except AuthoringError as error:
            return list(error.findings), "rendering", True
        if find_unmet_needs(sample.faults, sample.app, list_capabilities(self._catalog), offers_capability):
            return [], "", False
        results: list[TrialResult] = []
        for batch in _batch_trials(kind, plan_trials(get_plan(plan), sample, _SEED)):
            results += self._run(batch, scenario, path, sample, plan, sample.digest + unique)
            subject = ValidationSubject(scenario.name, str(path), sample.digest, get_plan(plan))
            all_ = conclude(subject, results, static, 0.0, promised=sample)
            found = _list_counting(all_.findings, kind.codes)
            if kind.codes & {f.code for f in found}:
                seen = [r.purpose for r in results if kind.codes & {f.code for f in r.findings}]
                return found, seen[0] if seen else "statistics", True
        by = next((r.purpose for r in results if r.outcome == "Broken"), "")
        first = {r.name: Purpose.parse(r.purpose)._replace(again=False) for r in results}
        held = {first[r.name] for r in results if r.outcome == "Held"}
        return found, by, all(first[r.name] in held for r in results if r.outcome == "Infra")

    def _resolve_sample(self, scenario: Scenario, path: Path) -> Runbook:
        return self.resolve(scenario, "app", 100, beside=path.parent)

    def _run(
        self, planned: Sequence[PlannedTrial], scenario: Scenario, path: Path, sample: Runbook, plan: str, unique: str
    ) -> list[TrialResult]:
        parallel = limit_concurrency(sample, _PARALLEL)
        return self.run(planned, get_plan(plan), scenario, unique, beside=path.parent, parallel=parallel)


def _format_today() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}"


def _list_counting(findings: Sequence[Finding], right: frozenset[str]) -> list[Finding]:
    """Return errors and findings with a right code; other warnings do not count as a catch."""
    return [f for f in findings if f.severity == Severity.ERROR or f.code in right]


def _batch_trials(kind: Kind, planned: Sequence[PlannedTrial]) -> list[list[PlannedTrial]]:
    """Return the trials that should catch it, then all others except later repeats."""
    early = [p for p in planned if p.purpose.startswith(kind.first)] if kind.first else []
    early = [p for p in early if p.purpose not in _LATER]
    rest = [p for p in planned if p not in early and p.purpose not in _LATER]
    return [batch for batch in (early, rest) if batch]


#: Repeats with further seeds: a plan needs them for its statistics, no defect here does.
_LATER: Final = frozenset(f"repeat-{n}" for n in range(2, 40))
