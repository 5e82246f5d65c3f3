"""The webhook's judgement of an object: the same message as the ``Accepted`` condition, one finding per line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from operators.scenario.admission import check_object, describe_finding, judge_scenario
from operators.scenario.environment import Settings
from operators.scenario.plan import Refusal
from operators.scenario.resolution import resolve_scenario
from operators.webhook.review import ObjectJudgement
from scenario_kit.campaign.planning.spec import parse_validation_spec
from scenario_kit.catalog import Catalog
from scenario_kit.errors import UsageError
from scenario_kit.model import Finding, Object, Severity

#: Maximum number of findings in a response; the rest are counted.
_MAX_FINDINGS: Final = 20


def judge_object(catalog: Catalog, settings: Settings, obj: Object) -> ObjectJudgement:
    """Judge a Scenario or Validation by its spec and the catalogue; other kinds are allowed.

    Missing capabilities of the cluster are left to the ``Accepted`` condition, since they may change.
    """
    if obj.get("kind") == "Scenario":
        judged = judge_scenario(catalog, settings, obj)
        return ObjectJudgement(_describe_refusal(obj, judged.refusal), _describe_findings(judged.warnings))
    if obj.get("kind") == "Validation":
        return _judge_validation(catalog, settings, obj)
    return ObjectJudgement()


def _judge_validation(catalog: Catalog, settings: Settings, obj: Object) -> ObjectJudgement:
    """Refuse an invalid plan or namespace; findings of an embedded scenario are warnings, since its report has them."""
    refusal = check_object(settings, obj)
    try:
        parse_validation_spec(obj["spec"]).followed  # noqa: B018 - a plan that cannot be followed raises
    except UsageError as error:
        refusal = refusal or Refusal("InvalidPlan", f"{error.message} ({error.fix})")
    embedded = obj["spec"].get("embedded")
    if refusal or not embedded:
        return ObjectJudgement(_describe_refusal(obj, refusal))
    found = resolve_scenario(catalog, {"metadata": {"name": embedded["name"]}, "spec": embedded["spec"]})
    return ObjectJudgement(warnings=_describe_findings(f for f in found.findings if f.severity != Severity.NOTE))


def _describe_refusal(obj: Object, refusal: Refusal | None) -> tuple[str, ...]:
    if refusal is None:
        return ()
    head = f"the {obj['kind']} '{obj['metadata']['name']}' is not accepted ({refusal.reason})"
    if not refusal.findings:
        return (f"{head}: {refusal.message}",)
    shown = _describe_findings(refusal.findings[:_MAX_FINDINGS])
    rest = len(refusal.findings) - len(shown)
    return (f"{head}:", *shown, *([f"… and {rest} more: run scenario-kit lint for all"] if rest else []))


def _describe_findings(findings: Iterable[Finding]) -> tuple[str, ...]:
    return tuple(describe_finding(finding) for finding in findings)
