"""Every rule has a scenario that violates it and nothing else; the catalogue violates none."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.lint import CHECKS, RULES, lint_file
from scenario_kit.load.yaml.document import read_document
from scenario_kit.model import Finding, Severity
from tests.lint import policy_violations, truth_violations

Spec = dict[str, Any]
CATALOG = Catalog(merging=True)
BASE = find_data_root() / "catalog" / "scenarios" / "product-catalog-wrong-target-port" / "scenario.yaml"
CHAOS = find_data_root() / "catalog" / "scenarios" / "payment-pod-failure" / "scenario.yaml"


def base(path: Path = BASE) -> dict[str, Any]:
    return copy.deepcopy(read_document(path).data)


def write(document: dict[str, Any], folder: Path, name: str = "") -> Path:
    path = folder / "scenarios" / (name or document["metadata"]["name"]) / "scenario.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def lint(document: dict[str, Any], folder: Path) -> list[Finding]:
    return lint_file(write(document, folder), CATALOG)


def fault(spec: Spec) -> dict[str, Any]:
    return spec["faults"][0]


def second_fault(spec: Spec, **more: Any) -> None:
    """Another real fault, completely labelled."""
    spec["faults"].append(
        {"name": "cart-down", "type": "deployment-scaled-to-zero", "target": "Deployment/cart", **more}
    )
    spec["groundTruth"]["rootCauses"].append({"fault": "cart-down", "entity": "Deployment/cart"})
    spec["groundTruth"]["propagation"].append({"from": "Deployment/cart", "to": "Deployment/checkout"})
    spec["solutions"].append(
        {"name": "up", "fixes": ["cart-down"], "changes": [{"scale": {"target": "Deployment/cart", "replicas": 1}}]}
    )


def without_file_position(spec: Spec) -> None:
    """Nothing: the file is placed in a folder of another name instead."""


def _start_in_circle(spec: Spec) -> None:
    second_fault(spec, start={"afterFault": "catalog-port"})
    fault(spec)["start"] = {"afterFault": "cart-down"}


def _unlabelled(spec: Spec) -> None:
    second_fault(spec)
    spec["groundTruth"]["rootCauses"].pop()
    spec["groundTruth"]["propagation"].pop()


def _uncovered(spec: Spec) -> None:
    second_fault(spec)
    spec["solutions"].pop()


def _absent_port(spec: Spec) -> None:
    fault(spec)["parameters"] = {"port": 4711}


def _env_of_cart(spec: Spec) -> None:
    """Another fault, with a variable that the workload does not have."""
    second_fault(spec)
    spec["faults"][1] |= {"type": "env-value-wrong", "parameters": {"name": "NO_SUCH", "value": "x"}}
    spec["solutions"][1]["changes"] = [{"removeFault": {"fault": "cart-down"}}]


VIOLATIONS: dict[str, Callable[[Spec], Any]] = {
    "SK003": without_file_position,
    "SK107": lambda s: s["app"].update(load={"profile": "steadyy"}),
    "SK108": lambda s: fault(s).update(type="service-target-port-wrnog"),
    "SK109": lambda s: fault(s)["parameters"].update(targetport=9999),
    "SK110": lambda s: fault(s).update(target="Service/product-catalogue"),
    "SK112": lambda s: s["groundTruth"]["rootCauses"][0].update(aliases=["Deployment/redis"]),
    "SK113": lambda s: s["expect"]["alerts"].append({"name": "HighLatency", "class": "MayFire"}),
    "SK114": lambda s: s["expect"]["alerts"].append(
        {"name": "HighRequestErrorRate", "entity": "Service/frontend", "class": "MayFire"}
    ),
    "SK115": lambda s: s["groundTruth"]["propagation"].append(
        {"from": "Deployment/frontend", "to": "Deployment/nowhere"}
    ),
    "SK116": lambda s: s["groundTruth"]["propagation"].pop(0),
    "SK117": lambda s: s["expect"].update(
        checks=[{"log": {"entity": "Deployment/frontend", "pattern": "*failed"}, "withinSeconds": 60}]
    ),
    "SK120": _absent_port,
    "SK121": lambda s: s["decoys"][0].update(changes=[{"restart": {"target": "Deployment/crt"}}]),
    "SK122": lambda s: s["decoys"][0].update(changes=[]),
    "SK123": lambda s: s.update(description="the port is {{ parameters.port }}"),
    "SK131": lambda s: s["expect"]["alerts"][0].update(after="catalog"),
    "SK132": _start_in_circle,
    "SK133": lambda s: s["decoys"][0].update(changes=[{"scale": {"target": "Deployment/cart", "replicas": 1}}]),
    "SK134": lambda s: s["expect"].update(checks=[{"probe": {"target": "Service/cort", "port": 8080}}]),
    "SK135": lambda s: fault(s).update(visibility="Hidden"),
    "SK136": lambda s: s.update(
        noise=[{"name": "more", "scale": {"target": "Deployment/ad", "forSeconds": 400}, "everySeconds": 600}]
    ),
    "SK137": lambda s: s.update(
        noise=[{"name": "roll", "restart": {"target": "Deployment/product-catalog"}, "everySeconds": 600}]
    ),
    "SK140": lambda s: s.update(tags=["networking", "y"]),  # the serializer does not know what kubectl makes of it
    "SK142": lambda s: s["decoys"][0].update(
        changes=[{"patch": {"target": "Deployment/cart", "type": "Merge", "patch": {"spec": {"replica": 2}}}}]
    ),
    "SK143": policy_violations.decoy(
        {"create": {"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": "cart"}}}
    ),
    "SK211": lambda s: s.update(brief="The product-catalog answers on a wrong port."),
    "SK304": lambda s: fault(s)["parameters"].update(targetPort=8080),
    "SK308": lambda s: s["expect"]["alerts"][0].update(withinSeconds=120),
    "SK324": lambda s: [a.update({"class": "MayFire"}) for a in s["expect"]["alerts"][:3]],
    "SK325": lambda s: s["expect"]["alerts"].append(
        {"name": "HighRequestErrorRate", "entity": "Deployment/frontend", "class": "MustNotFire"}
    ),
    "SK404": _unlabelled,
    "SK405": lambda s: s["groundTruth"]["rootCauses"][0].update(entity="Service/currency"),
    "SK406": lambda s: s["groundTruth"]["rootCauses"][0].update(entity="Deployment/frontend"),
    "SK408": lambda s: s["groundTruth"].update(outcome="NoIncident"),
    "SK409": lambda s: s["groundTruth"]["rootCauses"][0].pop("entity"),
    "SK416": _uncovered,
    "SK432": lambda s: s.pop("decoys"),
    "SK433": lambda s: s["decoys"][0].update(changes=s["solutions"][0]["changes"]),
    "SK601": lambda s: s.update(license="GPLv4"),
    "SK602": lambda s: s.update(title="TODO"),
    "SK603": lambda s: s.pop("authors"),
    "SK604": lambda s: s.update(domain="finops"),
    "SK605": lambda s: s.pop("brief"),
    "SK606": lambda s: s.update(suppress=[{"code": "SK432", "reason": "none yet", "until": "2020-01"}]),
    "SK609": lambda s: s.update(suppress=[{"code": "SK324", "reason": "known", "until": "2999-12"}]),
    "SK610": lambda s: s.update(suppress=[{"code": "SK432", "reason": "none yet", "until": "2999-12"}]),
    **truth_violations.VIOLATIONS,
    **policy_violations.VIOLATIONS,
}
#: Applied while a file is read (tests/load), or above the rules, by the lab itself
#: (tests/lab/twin/test_definition_checks.py).
LOADED = {"SK101", "SK102", "SK103", "SK104", "SK105", "SK106", "SK138"}


@pytest.mark.parametrize("code", sorted(VIOLATIONS))
def test_violation_gives_its_finding_only(code: str, tmp_path: Path) -> None:
    document = base()
    VIOLATIONS[code](document["spec"])
    folder = "elsewhere" if code == "SK003" else ""

    findings = lint_file(write(document, tmp_path, folder), CATALOG)

    assert {f.code for f in findings} == {code}, [f.message for f in findings]
    assert all(f.position and f.why and f.fix for f in findings)


def test_static_rules_without_check_are_applied_by_the_loader() -> None:
    assert {c for c, r in RULES.items() if r.static and c not in CHECKS} == LOADED


@pytest.mark.parametrize("path", CATALOG.scenarios(), ids=lambda p: p.parent.name)
def test_catalogue_has_no_findings(path: Path) -> None:
    """Except for outdated evidence, which `ci/evidence --check` reports."""
    assert [f for f in lint_file(path, CATALOG) if f.code != "SK607"] == []


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        pytest.param(lambda s: s["app"].update(name="otel-shop"), {"SK107"}, id="unknown app"),
        pytest.param(lambda s: s["app"].update(version="2.2.9"), {"SK107"}, id="unknown version"),
        pytest.param(lambda s: s["app"].update(alertPacks=["defualt"]), {"SK107"}, id="unknown alert pack"),
        pytest.param(lambda s: s["app"].update(options={"browsr": True}), {"SK109"}, id="unknown option"),
        pytest.param(
            lambda s: fault(s).update(parameters={"targetPort": "http"}), {"SK109"}, id="parameter of wrong type"
        ),
        pytest.param(
            lambda s: fault(s).update(target="Deployment/product-catalog"), {"SK110"}, id="target of wrong kind"
        ),
        pytest.param(_env_of_cart, {"SK120"}, id="unknown variable"),
        pytest.param(
            lambda s: s["expect"]["alerts"].append(
                {"name": "HighRequestErrorRate", "entity": "Deployment/valkey-cart", "class": "MayFire"}
            ),
            {"SK114"},
            id="alert about a store that reports no spans",
        ),
        pytest.param(lambda s: s["solutions"][0].update(fixes=["x"]), {"SK131"}, id="fixes an unknown fault"),
        pytest.param(
            lambda s: s["groundTruth"]["propagation"].append(
                {"from": "Deployment/frontend-proxy", "to": "Deployment/frontend"}
            ),
            {"SK116"},
            id="cycle",
        ),
        pytest.param(
            lambda s: s["groundTruth"]["propagation"].append(
                {"from": "Deployment/frontend", "to": "Service/product-catalog"}
            ),
            {"SK116"},
            id="edge into the root",
        ),
        pytest.param(lambda s: s["groundTruth"].update(rootCauses=[]), {"SK408"}, id="no root cause"),
        pytest.param(lambda s: s.pop("solutions"), {"SK416"}, id="no solution"),
        pytest.param(
            lambda s: s.update(suppress=[{"code": "SK426", "reason": "x", "until": "2999-01"}]),
            {"SK609"},
            id="a code that only runs find",
        ),
        pytest.param(
            lambda s: s.update(suppress=[{"code": "SK998", "reason": "x", "until": "2999-01"}]),
            {"SK606"},
            id="unknown code",
        ),
        pytest.param(lambda s: s.update(brief="Somebody injected a fault."), {"SK211"}, id="words of the trade"),
        pytest.param(
            lambda s: s.update(brief="The prod\u200buct\u2011catalog answers on another po\u00adrt."),
            {"SK211"},
            id="letters without width between them",
        ),
        pytest.param(
            lambda s: s.update(brief="Look at the pr\u043educt-catalog."), {"SK211"}, id="a letter of another alphabet"
        ),
        pytest.param(
            lambda s: s.update(brief="The product catalogue answers on a wrong port."), {"SK211"}, id="a name in prose"
        ),
    ],
)
def test_further_violations(change: Callable[[Spec], Any], codes: set[str], tmp_path: Path) -> None:
    document = base()
    change(document["spec"])

    assert {f.code for f in lint(document, tmp_path)} == codes


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda s: None, id="as it is"),
        pytest.param(lambda s: s.update(brief="Answers take 900 \u03bcs longer, 900 \u00b5s."), id="a unit"),
        pytest.param(lambda s: s.update(brief="Nothing works in the Caf\u00e9, s'il vous pla\u00eet."), id="foreign"),
        pytest.param(lambda s: s["expect"]["alerts"][0].pop("entity"), id="an alert on anything"),
        pytest.param(lambda s: s["expect"]["alerts"][0].pop("withinSeconds"), id="a computed deadline"),
        pytest.param(
            lambda s: s["groundTruth"]["propagation"][0].update({"from": "Fault/catalog-port"}),
            id="the fault as a node",
        ),
        pytest.param(lambda s: s["app"].update(options={"browserTraffic": True}), id="an option"),
        pytest.param(second_fault, id="two faults"),
        pytest.param(lambda s: fault(s).pop("parameters"), id="default parameters"),
    ],
)
def test_valid_variation_has_no_findings(change: Callable[[Spec], Any], tmp_path: Path) -> None:
    document = base()
    change(document["spec"])

    assert lint(document, tmp_path) == []


def test_chaos_object_needs_no_entity_or_solution(tmp_path: Path) -> None:
    document = base(CHAOS)
    assert "entity" not in document["spec"]["groundTruth"]["rootCauses"][0]
    assert "solutions" not in document["spec"]

    assert lint(document, tmp_path) == []


def test_labelling_the_target_of_a_chaos_fault_labels_a_victim(tmp_path: Path) -> None:
    document = base(CHAOS)
    document["spec"]["groundTruth"]["rootCauses"][0]["entity"] = "Deployment/payment"
    (finding,) = lint(document, tmp_path)

    assert finding.code == "SK406"
    assert finding.fix.startswith("remove `entity`")  # what the file would name, another version may call otherwise


def test_edge_between_root_causes_is_dropped_not_reversed(tmp_path: Path) -> None:
    document = base()
    spec = document["spec"]
    spec["faults"].append({"name": "pages", "type": "deployment-scaled-to-zero", "target": "Deployment/frontend"})
    spec["groundTruth"]["rootCauses"].append({"fault": "pages", "entity": "Deployment/frontend"})
    found = [f for f in lint(document, tmp_path) if f.code == "SK116"]

    assert [f.fix for f in found] == ["remove the edge: both are root causes"]


def test_drafts_may_omit_fields_supplied_by_faults(tmp_path: Path) -> None:
    document = base()
    for name in ("solutions", "decoys", "authors", "license", "brief"):
        document["spec"].pop(name)
    document["spec"]["groundTruth"].pop("propagation")
    path = tmp_path / "draft.yaml"
    path.write_text(yaml.safe_dump(document))

    assert lint_file(path, Catalog()) == []


def test_findings_are_complete_and_sorted_worst_first(tmp_path: Path) -> None:
    document = base()
    document["spec"].pop("decoys")
    document["spec"]["expect"]["alerts"][0]["name"] = "HighRequestErorRate"
    findings = lint(document, tmp_path)

    assert [f.severity for f in findings] == [Severity.ERROR, Severity.WARNING]
    assert "did you mean `HighRequestErrorRate`" in findings[0].fix
    position = findings[0].position
    assert position is not None
    line = Path(position.path).read_text().splitlines()[position.line - 1]
    assert line[position.column - 1 :] == "HighRequestErorRate"


def test_alert_of_unused_pack_is_reported_with_its_packs(tmp_path: Path) -> None:
    """itbench has rules of the same names, so it replaces default; both together would be SK313."""
    document = base()
    document["spec"]["expect"]["alerts"].append({"name": "HighKafkaConsumerLag", "class": "MayFire"})
    (finding,) = lint(document, tmp_path)

    assert (finding.code, finding.fix) == (
        "SK113", "the pack 'itbench' has it: write `alertPacks: [itbench]` under spec.app",
    )  # fmt: skip
    document["spec"]["app"]["alertPacks"] = ["itbench"]
    assert lint(document, tmp_path / "fixed") == []


def test_every_code_in_the_sources_has_a_rule() -> None:
    root = find_data_root()
    sources = [p for folder in ("scenario_kit", "operators") for p in (root / folder).rglob("*.py")]
    codes = {code for p in sources for code in re.findall(r'"(SK\d{3})"', p.read_text())}

    assert codes <= set(RULES)
