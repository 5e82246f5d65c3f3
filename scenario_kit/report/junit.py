"""A validation as JUnit XML; what infrastructure prevented is skipped, never failed."""

from __future__ import annotations

from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite

from scenario_kit.model import Severity
from scenario_kit.report.document import Report


def render(report: Report) -> str:
    """One suite per scenario, one case per trial and one for the static rules."""
    validation = report.validation
    suite = TestSuite(validation.scenario)
    static = TestCase("static rules", classname=validation.scenario)
    problems = [f for f in validation.findings if f.severity == Severity.ERROR and not f.trial]
    if problems:
        static.result = [Failure(f"{f.code}: {f.message}") for f in problems]
    suite.add_testcase(static)
    for trial in validation.trials:
        case = TestCase(trial.purpose, classname=validation.scenario, time=trial.wall_seconds)
        errors = [f for f in trial.findings if f.severity == Severity.ERROR]
        if trial.outcome == "Broken":
            case.result = [Failure(f"{f.code}: {f.message}; observed: {f.observed}") for f in errors]
        elif trial.outcome != "Held":
            case.result = [Skipped(trial.message or "not evaluated")]
        suite.add_testcase(case)
    xml = JUnitXml()
    xml.add_testsuite(suite)
    text: bytes = xml.tostring()  # type: ignore[no-untyped-call]
    return text.decode()
