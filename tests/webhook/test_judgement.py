"""Answers of the webhook: consistent with ``Accepted`` and lint, with field, suggestion and page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml

from operators.last_applied import LAST_APPLIED_ANNOTATION
from operators.scenario.admission import accept, judge_scenario
from operators.scenario.environment import Environment, Settings
from operators.scenario.plan import Refusal
from operators.webhook.judgement import judge_object
from scenario_kit.catalog import find_data_root
from scenario_kit.lint import drop_consequential, lint_text
from scenario_kit.load.rules import load_rules
from scenario_kit.model import Severity
from scenario_kit.render.scenarios.bundle import bundle_scenario
from tests.webhook.conftest import CATALOG, GOOD, HERE, spoil

SETTINGS = Settings()
ROOT = Path(__file__).resolve().parents[2]


def judge(obj: dict[str, Any]) -> tuple[str, ...]:
    return judge_object(CATALOG, SETTINGS, obj).refusal


def test_good_scenario_is_not_refused() -> None:
    assert judge(spoil(lambda spec: None)) == ()


def test_error_has_code_field_suggestion_and_page(wrong: tuple[dict[str, Any], str, str, str]) -> None:
    obj, code, field, helps = wrong
    head, line = judge(obj)

    assert head.startswith("the Scenario 'payment-pod-failure' is not accepted (")
    assert line.startswith(f"{code} {field}: ")
    assert helps in line
    assert line.endswith(f" [{load_rules()[code].page}]")


def test_webhook_and_accepted_condition_agree(wrong: tuple[dict[str, Any], str, str, str]) -> None:
    environment = cast(Environment, SimpleNamespace(catalog=CATALOG, settings=SETTINGS))
    refusal = accept(environment, wrong[0])

    assert isinstance(refusal, Refusal)
    assert judge(wrong[0])[1:] == (refusal.message,)


def test_webhook_and_lint_agree(wrong: tuple[dict[str, Any], str, str, str]) -> None:
    obj, code, _, _ = wrong
    judged = judge_scenario(CATALOG, SETTINGS, obj).refusal
    text = yaml.safe_dump({**obj, "metadata": GOOD["metadata"]}, sort_keys=False)
    # A scenario that somebody is about to merge lacks a brief as much as one that is applied.
    where = ROOT / "catalog" / "scenarios" / "payment-pod-failure" / "scenario.yaml"
    found = [f for f in drop_consequential(lint_text(text, where, CATALOG)) if f.severity == Severity.ERROR]

    assert judged is not None
    assert code in {f.code for f in judged.findings}
    assert {(f.code, f.message) for f in judged.findings} <= {(f.code, f.message) for f in found}


def test_object_in_a_solver_namespace_is_refused() -> None:
    (line,) = judge(spoil(lambda spec: None, namespace="otel-demo"))

    assert "(NamespaceVisible)" in line
    assert f"kubectl apply -n {HERE}" in line


def test_suspended_scenario_needs_no_brief() -> None:
    assert judge(spoil(lambda spec: spec.update(suspend=True, brief=""))) == ()


def test_blank_brief_is_missing_and_placeholder_reported() -> None:
    assert "SK605" in judge(spoil(lambda spec: spec.update(brief="  ")))[1]
    assert judge(spoil(lambda spec: spec.update(brief="TODO say what users see")))[1].startswith("SK602 spec.brief: ")


def test_long_finding_list_is_truncated() -> None:
    def repeat(spec: dict[str, Any]) -> None:
        spec["faults"] = [{"name": f"f{i}", "type": f"unknown-{i}", "target": "Deployment/cart"} for i in range(16)]
        spec["decoys"] = [{"name": f"d{i}", "changes": []} for i in range(16)]

    messages = judge(spoil(repeat))

    assert len(messages) == 22
    assert re.fullmatch(r"… and \d+ more: run scenario-kit lint for all", messages[-1])


def validation(**spec: Any) -> dict[str, Any]:
    return {"kind": "Validation", "metadata": {"name": "v", "namespace": HERE}, "spec": spec}


def test_validation_is_refused_for_plan_and_warned_about_scenario() -> None:
    broken = spoil(lambda spec: spec["faults"][0].update(type="pod-failur"))["spec"]
    embedded = {"name": "mine", "spec": broken}

    (line,) = judge(validation(embedded=embedded, plan="Thorough", maxRepeats=1))
    assert line.startswith("the Validation 'v' is not accepted (InvalidPlan): ")
    assert judge(validation(scenario="stored")) == ()
    judged = judge_object(CATALOG, SETTINGS, validation(embedded=embedded))
    assert judged.refusal == ()
    assert judged.warnings[0].startswith("SK108 spec.faults[0].type: ")
    elsewhere = validation(embedded=embedded) | {"metadata": {"name": "v", "namespace": "default"}}
    assert "(NamespaceVisible)" in judge(elsewhere)[0]


def test_object_without_the_nulls_of_its_file_is_refused() -> None:
    patch = {"target": "Deployment/payment", "type": "Merge", "patch": {"spec": {}}}
    solutions = [{"name": "resume", "fixes": ["payment-pods"], "changes": [{"patch": patch}]}]
    scenario = spoil(lambda spec: spec.update(solutions=solutions))
    at = "solutions[0].changes[0].patch.patch.spec.paused"
    for obj, field in (
        (scenario, f"spec.{at}"),
        (validation(embedded={"name": "mine", "spec": scenario["spec"]}), f"spec.embedded.spec.{at}"),
    ):
        sent = json.dumps(obj).replace('"patch": {"spec": {}}', '"patch": {"spec": {"paused": null}}')
        obj["metadata"] = {**obj["metadata"], "annotations": {LAST_APPLIED_ANNOTATION: sent}}
        (line,) = judge(obj)
        name = obj["metadata"]["name"]
        assert line.startswith(f"the {obj['kind']} '{name}' is not accepted (NullsNotSent): `{field}`")
        assert "kubectl apply --server-side" in line


def test_validations_own_fault_type_is_loaded_and_checked() -> None:
    folder = find_data_root() / "catalog" / "scenarios" / "hotel-all-errors"
    bundle = bundle_scenario(folder / "scenario.yaml", CATALOG)

    def warn(*types: dict[str, Any]) -> str:
        embedded = {"name": "hotel-all-errors", "spec": {**bundle["spec"], "faultTypes": list(types)}}
        return "\n".join(judge_object(CATALOG, SETTINGS, validation(embedded=embedded)).warnings)

    (own,) = bundle["spec"]["faultTypes"]
    assert "SK108" in warn()
    assert "SK108" not in warn(own)
    assert "SK102 spec.faultTypes[0].targest: " in warn({"targest" if k == "targets" else k: v for k, v in own.items()})


def test_other_kinds_are_not_judged() -> None:
    assert judge({"kind": "Trial", "metadata": {"name": "t"}, "spec": {}}) == ()


@pytest.mark.parametrize("code", sorted(load_rules()))
def test_every_code_links_to_an_existing_anchor(code: str) -> None:
    page, _, anchor = load_rules()[code].page.partition("#")
    headings = re.findall(r"^## (SK\d{3}: .*)$", (ROOT / page).read_text(), re.MULTILINE)
    # GitHub's anchors: lower case, without punctuation, blanks as hyphens.
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}

    assert anchor in anchors
