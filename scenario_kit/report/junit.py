"""JUnit XML rendering; trials that infrastructure prevented are skipped, not failed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite

from scenario_kit.model import Finding, Severity
from scenario_kit.report.document import Report

#: Control characters, which XML 1.0 cannot represent.
_INVALID: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def render(report: Report) -> str:
    """Render a suite with one case per trial and one for static rules and statistics."""
    return _format([_build_suite(report)])


def render_campaigns(reports: Iterable[Report], failed: Mapping[str, str], skipped: Mapping[str, str]) -> str:
    """Render a suite for each scenario.

    Args:
        reports: those of the scenarios that have one.
        failed: scenarios that failed without a report, with the reason.
        skipped: scenarios without a result, with the reason.
    """
    suites = [_build_suite(report) for report in reports]
    suites += [_build_single_case(name, Failure(reason)) for name, reason in failed.items()]
    suites += [_build_single_case(name, Skipped(reason)) for name, reason in skipped.items()]
    return _format(suites)


def _build_suite(report: Report) -> TestSuite:
    validation = report.validation
    suite = TestSuite(validation.scenario)
    rules = TestCase("rules and statistics", classname=validation.scenario, time=0)
    problems = [f for f in validation.findings if f.severity == Severity.ERROR and not f.trial]
    rules.result = [_build_failure(f) for f in problems]
    suite.add_testcase(rules)
    for trial in validation.trials:
        case = TestCase(trial.purpose, classname=validation.scenario, time=trial.wall_seconds)
        errors = [f for f in trial.findings if f.severity == Severity.ERROR]
        if trial.outcome == "Broken":
            case.result = [_build_failure(f) for f in errors]
        elif trial.outcome != "Held":
            case.result = [Skipped(trial.message or "not evaluated")]
        suite.add_testcase(case)
    return suite


def _build_single_case(scenario: str, result: Failure | Skipped) -> TestSuite:
    suite = TestSuite(scenario)
    case = TestCase("validation", classname=scenario, time=0)
    case.result = [result]
    suite.add_testcase(case)
    return suite


def _format(suites: Iterable[TestSuite]) -> str:
    xml = JUnitXml()
    for suite in suites:
        xml.add_testsuite(suite)
    text: bytes = xml.tostring()  # type: ignore[no-untyped-call]
    return _INVALID.sub("\N{REPLACEMENT CHARACTER}", text.decode())


def _build_failure(finding: Finding) -> Failure:
    """Build a failure with the finding's code as type and its location, observation, expectation and fix as text."""
    failure = Failure(f"{finding.code}: {finding.message}", finding.code)
    parts = {
        "at": str(finding.position or ""),
        "step": finding.step,
        "observed": finding.observed,
        "expected": finding.expected,
        "fix": finding.fix,
    }
    failure.text = "\n".join(f"{name}: {text}" for name, text in parts.items() if text)
    return failure
