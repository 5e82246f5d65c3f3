"""Rules on rendered changes, an app's calls and other faults: findings and allowed cases."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.lint import lint_file
from scenario_kit.lint.fix import fix_file
from scenario_kit.lint.rules.faults.change_selectors import find_wrong_targets
from scenario_kit.lint.simulation.field_diff import list_written_fields
from scenario_kit.load.yaml.document import read_document
from scenario_kit.model import Change, Finding, Object
from scenario_kit.render import render_app
from tests.lint.truth_violations import FAULTS, build_local_fault, experiment

CATALOG = Catalog(merging=True)
BASE = find_data_root() / "catalog" / "scenarios" / "product-catalog-wrong-target-port" / "scenario.yaml"
APP = CATALOG.app("otel-demo", "2.2.0")
Spec = dict[str, Any]


@cache
def objects() -> tuple[Object, ...]:
    return render_app(APP, {}, 50, APP.namespace)


def scenario(change: Callable[[Spec], Any], folder: Path, fault: dict[str, Any] | None = None) -> Path:
    """A changed copy of a good scenario; ``fault`` is one of its own, which then takes the first one's place."""
    document = copy.deepcopy(read_document(BASE).data)
    path = folder / "scenarios" / document["metadata"]["name"] / "scenario.yaml"
    path.parent.mkdir(parents=True)
    if fault is not None:
        spec = document["spec"]
        spec["faults"][0] = {"name": "catalog-port", "type": fault["name"], "target": "Deployment/cart"}
        spec["groundTruth"]["rootCauses"] = [{"fault": "catalog-port"}]
        spec["groundTruth"]["propagation"] = [{"from": "Fault/catalog-port", "to": "Deployment/checkout"}]
        spec["expect"]["alerts"] = [{"name": "HighRequestErrorRate", "entity": "Deployment/checkout"}]
        spec["solutions"] = []
        spec["decoys"] = [{"name": "restart", "changes": [{"restart": {"target": "Deployment/checkout"}}]}]
        own = path.parent / "faults" / fault["name"] / "fault.yaml"
        own.parent.mkdir(parents=True)
        own.write_text(yaml.safe_dump(fault, sort_keys=False))
    change(document["spec"])
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def lint_scenario(path: Path) -> list[Finding]:
    """Without SK222: `own_fault` does what types of the catalogue do (`test_copied_fault_types.py`)."""
    return [finding for finding in lint_file(path, CATALOG) if finding.code != "SK222"]


def codes(path: Path) -> list[str]:
    return [f.code for f in lint_scenario(path)]


def edge(start: str, end: str, **alert: Any) -> Callable[[Spec], Any]:
    """One more step of the propagation, and an alert where it ends."""

    def change(spec: Spec) -> None:
        spec["groundTruth"]["propagation"].append({"from": start, "to": end})
        alerts = [a for a in spec["expect"]["alerts"] if a["name"] != "NoRequestsReceived"]
        if end not in [a.get("entity") for a in alerts]:
            alerts.append({"name": "HighRequestErrorRate", "entity": end, "class": "MayFire", **alert})
        spec["expect"]["alerts"] = alerts

    return change


def aliases(*names: str) -> Callable[[Spec], Any]:
    return lambda spec: spec["groundTruth"]["rootCauses"][0].update(aliases=list(names))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(edge("Deployment/recommendation", "Deployment/payment"), "payment does not call", id="no call"),
        pytest.param(
            edge("Deployment/checkout", "Deployment/frontend-proxy"), "through frontend", id="a step left out"
        ),
        pytest.param(edge("Deployment/checkout", "Deployment/payment"), "checkout calls payment", id="turned round"),
    ],
)
def test_edge_without_call_is_reported(change: Callable[[Spec], Any], message: str, tmp_path: Path) -> None:
    (finding,) = lint_scenario(scenario(change, tmp_path))

    assert (finding.code, finding.severity) == ("SK125", "Warning")
    assert message in finding.message


@pytest.mark.parametrize(("end", "expected"), [("Deployment/quote", []), ("Deployment/kafka", ["SK125"])])
def test_components_fall_silent_with_the_collector(end: str, expected: list[str], tmp_path: Path) -> None:
    reported = lint_scenario(scenario(edge("Deployment/otel-collector", end, name="KubePodCrashLooping"), tmp_path))
    assert [f.code for f in reported if "otel-collector" in f.message and f.code == "SK125"] == expected


@pytest.mark.parametrize(
    ("middle", "expected"),
    [
        ("ServiceAccount/otel-demo", ["SK125"]),
        ("ConfigMap/flagd-config", ["SK125"]),
        ("Service/product-catalog", []),
    ],
    ids=["nobody writes it", "nor that", "what the fault changes"],
)
def test_unwritten_object_cannot_propagate(middle: str, expected: list[str], tmp_path: Path) -> None:
    def through(spec: Spec) -> None:
        edges = spec["groundTruth"]["propagation"]
        edges[:1] = [{"from": edges[0]["from"], "to": middle}, {"from": middle, "to": edges[0]["to"]}]

    reported = [
        f for f in lint_scenario(scenario(through, tmp_path)) if f.code == "SK125" and "no fault writes" in f.message
    ]
    assert [f.code for f in reported] == expected


@pytest.mark.parametrize(
    ("alert", "expected"), [("NoRequestsReceived", []), ("HighRequestErrorRate", ["SK125", "SK125"])]
)
def test_silence_propagates_through_components_without_alert(alert: str, expected: list[str], tmp_path: Path) -> None:
    def lead(spec: Spec) -> None:
        edge("Deployment/shipping", "Deployment/quote", name=alert)(spec)
        spec["groundTruth"]["propagation"].append({"from": "Deployment/checkout", "to": "Deployment/shipping"})

    assert codes(scenario(lead, tmp_path)) == expected


@pytest.mark.parametrize(
    "edges",
    [
        [("checkout", "kafka"), ("kafka", "accounting")],
        [("checkout", "accounting")],
        [("fraud-detection", "kafka"), ("kafka", "checkout")],
        [("kafka", "accounting"), ("kafka", "checkout")],
    ],
    ids=["with the messages", "past the broker", "back from a consumer", "from the broker to both sides"],
)
def test_propagation_may_cross_a_broker_in_both_directions(edges: list[tuple[str, str]], tmp_path: Path) -> None:
    def lead(spec: Spec) -> None:
        for start, end in edges:
            edge(f"Deployment/{start}", f"Deployment/{end}", name="KubePodCrashLooping")(spec)

    assert "SK125" not in codes(scenario(lead, tmp_path))


@pytest.mark.parametrize(
    ("start", "end", "steps"),
    [
        ("payment", "accounting", "payment → checkout → kafka → accounting"),
        ("accounting", "checkout", "accounting → kafka → checkout"),
        ("accounting", "frontend", "accounting → kafka → checkout → frontend"),
    ],
)
def test_route_over_a_broker_is_offered(start: str, end: str, steps: str, tmp_path: Path) -> None:
    reported = lint_scenario(
        scenario(edge(f"Deployment/{start}", f"Deployment/{end}", name="KubePodCrashLooping"), tmp_path)
    )

    assert [f.fix for f in reported if f.code == "SK125"] == [f"write an edge for each step: {steps}"]


@pytest.mark.parametrize(("alert", "expected"), [("NoRequestsReceived", []), ("KubePodCrashLooping", ["SK125"])])
def test_silence_passes_a_broker(alert: str, expected: list[str], tmp_path: Path) -> None:
    def lead(spec: Spec) -> None:
        edge("Deployment/kafka", "Deployment/accounting", name=alert)(spec)
        edges = [("frontend", "checkout"), ("checkout", "kafka")]
        spec["groundTruth"]["propagation"] += [{"from": f"Deployment/{a}", "to": f"Deployment/{b}"} for a, b in edges]

    assert codes(scenario(lead, tmp_path)) == expected


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(edge("Service/product-catalog", "Deployment/frontend"), id="from a Service to its caller"),
        pytest.param(
            edge("Deployment/checkout", "Deployment/payment", name="NoRequestsReceived"), id="silence follows the call"
        ),
        pytest.param(aliases(), id="nothing"),
    ],
)
def test_edges_along_calls(change: Callable[[Spec], Any], tmp_path: Path) -> None:
    assert "SK125" not in codes(scenario(change, tmp_path))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["Deployment/frontend"], "an edge of the propagation leads to it"),
        (["Deployment/product-catalog", "Deployment/frontend"], "an edge of the propagation leads to it"),
        (["Deployment/ad"], "is another component"),
        (["Service/ad"], "is another component"),
        (["ConfigMap/flagd-config"], "belongs to flagd as well"),
        (["ServiceAccount/otel-demo"], "as well, and fault"),
        (["Namespace/app"], "belongs to no component"),
        (["Node/kind-worker"], "belongs to no component"),
        (["ConfigMap/product-catalog-product-catalog-otel-config"], "is healthy"),
    ],
)
def test_alias_of_a_victim_or_unrelated_object_is_reported(names: list[str], message: str, tmp_path: Path) -> None:
    (finding,) = lint_scenario(scenario(aliases(*names), tmp_path))

    assert finding.code == "SK124"
    assert message in finding.message


def test_alias_of_the_own_component_is_accepted(tmp_path: Path) -> None:
    assert codes(scenario(aliases("Deployment/product-catalog"), tmp_path)) == []


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ({"labelSelectors": {"opentelemetry.io/name": "crt"}}, "selects no pod"),
        ({"labelSelectors": {"opentelemetry.io/name": "ad"}}, "selects pods of Deployment/ad"),
        ({}, "selects pods of"),
        (
            {"expressionSelectors": [{"key": "opentelemetry.io/name", "operator": "NotIn", "values": ["cart"]}]},
            "of Dep",
        ),
    ],
)
def test_selector_must_match_the_target(selector: Object, message: str, tmp_path: Path) -> None:
    findings = lint_scenario(scenario(lambda s: None, tmp_path, build_local_fault(selector=selector)))

    assert {f.code for f in findings} == {"SK111"}
    assert message in findings[0].message


def test_partition_target_must_select_something(tmp_path: Path) -> None:
    spec = {"kind": "NetworkChaos", "action": "partition", "direction": "both"}
    ad, empty = ({"mode": "all", "selector": {"labelSelectors": {"opentelemetry.io/name": n}}} for n in ("ad", "no"))

    assert codes(scenario(lambda s: None, tmp_path / "one", build_local_fault(**spec, target=ad))) == []
    assert codes(scenario(lambda s: None, tmp_path / "two", build_local_fault(**spec, target=empty))) == ["SK111"]


def test_pods_selected_in_other_namespaces_are_not_checked(tmp_path: Path) -> None:
    selector = {"namespaces": ["kube-system"], "labelSelectors": {"component": "etcd"}}

    assert set(codes(scenario(lambda s: None, tmp_path, build_local_fault(selector=selector)))) == {"SK150"}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({"annotationSelectors": {"chaos": "on"}}, ["SK111"]),
        ({"podPhaseSelectors": ["Failed"]}, ["SK111"]),
        ({"podPhaseSelectors": ["!Pending"]}, []),
        ({"fieldSelectors": {"spec.nodeName": "worker-1"}}, []),
        ({"fieldSelectors": {"spec.serviceAccountName": "nobody"}}, ["SK111"]),
        ({"nodeSelectors": {"zone": "a"}}, []),
        ({"expressionSelectors": [{"key": "opentelemetry.io/name", "operator": "DoesNotExist"}]}, ["SK111"]),
        ({"pods": {"otel-demo": ["cart-5d8f7c6b9-x2x8p"]}}, []),
        ({"pods": {"otel-demo": ["kart-1"]}}, ["SK111"]),
        ({"annotationSelectors": {"chaos": "on and on"}}, ["SK127"]),
        ({"fieldSelectors": {"spec.hostNetwork": "true"}}, ["SK127"]),
    ],
)
def test_every_selector_field_is_evaluated(selector: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    whole = {"namespaces": ["otel-demo"], "labelSelectors": {"opentelemetry.io/name": "cart"}, **selector}
    assert codes(scenario(lambda s: None, tmp_path, build_local_fault(selector=whole))) == expected


def test_solution_that_empties_a_service_is_reported(tmp_path: Path) -> None:
    patch = [{"op": "replace", "path": "/spec/selector", "value": {"app": "catalogue"}}]
    wrong = {"patch": {"target": "Service/product-catalog", "type": "Json", "patch": patch}}

    path = scenario(lambda s: s["solutions"][0]["changes"].append(wrong), tmp_path)

    assert codes(path) == ["SK111"]
    assert "after solution 'restore-port' Service/product-catalog selects no pod" in lint_scenario(path)[0].message


ON_AD = {"opentelemetry.io/name": "ad"}


def change(**operation: Any) -> Change:
    return Change.from_json(operation)


def merge(target: str, **spec: Any) -> Change:
    return change(patch={"target": target, "type": "Strategic", "patch": {"spec": spec}})


def env(target: str, **values: str) -> Change:
    name = target.partition("/")[2]
    variables = [{"name": k, "value": v} for k, v in values.items()]
    return merge(target, template={"spec": {"containers": [{"name": name, "env": variables}]}})


def flag(name: str, variant: str = "on") -> Change:
    return change(setFlag={"flag": name, "variant": variant})


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        pytest.param(env("Deployment/ad", AD_PORT="1"), env("Deployment/ad", AD_PORT="2"), True, id="one variable"),
        pytest.param(env("Deployment/ad", AD_PORT="1"), env("Deployment/ad", X="x"), False, id="two variables"),
        pytest.param(env("Deployment/ad", NEW="1"), env("Deployment/ad", OTHER="x"), False, id="two new variables"),
        pytest.param(env("Deployment/ad", NEW="1"), env("Deployment/ad", NEW="x"), True, id="one new variable"),
        pytest.param(env("Deployment/ad", AD_PORT="1"), env("Deployment/cart", CART_PORT="1"), False, id="two objects"),
        pytest.param(
            merge("Deployment/ad", replicas=0), change(delete={"target": "Deployment/ad"}), True, id="a whole object"
        ),
        pytest.param(
            merge("Deployment/ad", replicas=0),
            change(scale={"target": "Deployment/ad", "replicas": 3}),
            True,
            id="two ways to write a field",
        ),
        pytest.param(flag("cartFailure"), flag("adFailure"), False, id="two flags"),
        pytest.param(flag("cartFailure"), flag("cartFailure"), True, id="one flag"),
        pytest.param(
            change(cordon={"target": "Node/n1"}), change(drain={"target": "Node/n1"}), True, id="one node twice"
        ),
        pytest.param(
            change(taint={"target": "Node/n1", "key": "a"}),
            change(taint={"target": "Node/n1", "key": "b"}),
            False,
            id="two taints",
        ),
        pytest.param(
            merge("kube-system/Deployment/coredns", replicas=0),
            change(scale={"target": "kube-system/Deployment/coredns", "replicas": 1}),
            True,
            id="an object that no app brings",
        ),
        pytest.param(
            change(patch={"target": "Node/a", "type": "Json", "patch": [{"op": "add", "path": "/spec/x", "value": 1}]}),
            change(patch={"target": "Node/a", "type": "Merge", "patch": {"spec": {"y": 1}}}),
            False,
            id="two fields of one",
        ),
        pytest.param(change(**experiment()), change(**experiment()), True, id="one experiment twice"),
        pytest.param(
            change(**experiment()), change(**experiment("NetworkChaos", action="loss")), False, id="two experiments"
        ),
        pytest.param(
            change(**experiment("NetworkChaos", action="loss")),
            change(**experiment("NetworkChaos", action="loss", selector={"labelSelectors": ON_AD})),
            False,
            id="one experiment on two workloads",
        ),
        pytest.param(
            change(restart={"target": "Deployment/ad"}),
            change(restart={"target": "Deployment/ad"}),
            False,
            id="two restarts",
        ),
    ],
)
def test_written_fields_of_two_changes_overlap(one: Change, other: Change, meet: bool) -> None:
    mine, theirs = list_written_fields([one], objects(), APP), list_written_fields([other], objects(), APP)

    assert any(a.meets(b) for a in mine for b in theirs) is meet


@pytest.mark.parametrize("code", sorted(FAULTS))
def test_local_fault_violation_gives_its_finding_only(code: str, tmp_path: Path) -> None:
    findings = lint_scenario(scenario(lambda s: None, tmp_path, FAULTS[code]))

    assert {f.code for f in findings} == {code}, [f.message for f in findings]
    assert all(f.position and f.why and f.fix for f in findings)


def test_valid_local_fault_has_no_findings(tmp_path: Path) -> None:
    assert codes(scenario(lambda s: None, tmp_path, build_local_fault())) == []


def chaos_decoy(manifest: Object) -> Callable[[Spec], Any]:
    return lambda spec: spec["decoys"][0].update(changes=[manifest])


@pytest.mark.parametrize(
    ("manifest", "message", "fix"),
    [
        (experiment(mode="al"), "'all'", "did you mean `all`?"),
        (experiment("PodChoas"), "no kind 'PodChoas'", "did you mean `PodChaos`"),
        (experiment(containerName="cart"), "`containerName` is not a field", "`containerNames`"),
        (experiment(duration="10 minutes"), "must be text that matches", ""),
        (experiment(mode="fixed"), "`mode: fixed` needs a number", "add `value`"),
        (experiment(gracePeriod=-1), "at least 0", ""),
        (
            experiment("NetworkChaos", action="delay", direction="to", delay={"latency": "0.5s"}),
            "cannot use `delay.latency`",
            "in another unit",
        ),
        (experiment("Schedule"), "lacks the required field `schedule`", ""),
        (
            experiment("TimeChaos", action="shift", timeOffset="-1h"),
            "`action` is not a field of",
            "",
        ),
    ],
)
def test_invalid_experiment_is_reported(manifest: Object, message: str, fix: str, tmp_path: Path) -> None:
    path = scenario(chaos_decoy(manifest), tmp_path)
    findings = [f for f in lint_scenario(path) if f.code == "SK127"]

    assert any(message in f.message for f in findings), [f.message for f in findings]
    assert any(fix in f.fix for f in findings), [f.fix for f in findings]
    line = path.read_text().splitlines()[findings[0].position.line - 1] if findings[0].position else ""
    assert line.strip() != "apiVersion: scenariokit.io/v1alpha1"  # the place is inside, not the head of the file


@pytest.mark.parametrize(
    ("manifest", "meant"),
    [
        (experiment(mode="al"), experiment()),
        (experiment("PodChoas"), experiment()),
        (experiment("HTTPChaos", action="abort"), None),
    ],
)
def test_fix_corrects_unambiguous_experiment(manifest: Object, meant: Object | None, tmp_path: Path) -> None:
    path = scenario(chaos_decoy(manifest), tmp_path)
    result = fix_file(path, CATALOG)

    assert yaml.safe_load(result.new)["spec"]["decoys"][0]["changes"] == [meant or manifest]


def test_fix_drops_joining_alias(tmp_path: Path) -> None:
    result = fix_file(scenario(aliases("Deployment/product-catalog", "Deployment/frontend"), tmp_path), CATALOG)

    assert result.left == ()
    (cause,) = yaml.safe_load(result.new)["spec"]["groundTruth"]["rootCauses"]
    assert cause["aliases"] == ["Deployment/product-catalog"]


def test_fix_drops_duplicate_solution(tmp_path: Path) -> None:
    def again(spec: Spec) -> None:
        spec["solutions"].append({**copy.deepcopy(spec["solutions"][0]), "name": "again"})

    path = scenario(again, tmp_path)
    result = fix_file(path, CATALOG)

    assert [f.code for f in result.corrected] == ["SK417"]
    assert [s["name"] for s in yaml.safe_load(result.new)["spec"]["solutions"]] == ["restore-port"]


def test_invalid_experiment_of_a_local_fault_is_reported(tmp_path: Path) -> None:
    path = scenario(lambda s: None, tmp_path, build_local_fault(mode="al"))

    (finding,) = lint_scenario(path)
    (of_fault,) = [f for f in lint_scenario(path.parent / "faults" / "own" / "fault.yaml") if f.code == "SK127"]

    assert finding.code == "SK127"
    assert "fault 'catalog-port': PodChaos: `spec.mode` must be" in finding.message
    assert of_fault.position is not None
    assert (
        "mode: al"
        in (path.parent / "faults" / "own" / "fault.yaml").read_text().splitlines()[of_fault.position.line - 1]
    )


@pytest.mark.parametrize(
    ("duration", "alerts", "ends"),
    [
        ("55s", [{}], True),
        ("13m59s", [{"withinSeconds": 480}], True),
        ("14m", [{"withinSeconds": 480}], False),
        ("0.25h", [{"withinSeconds": 480}], False),
        ("55s", [{"class": "MayFire"}], False),
        ("", [{}], False),
    ],
)
def test_fault_ending_during_its_alerts_is_reported(
    duration: str, alerts: list[dict[str, Any]], ends: bool, tmp_path: Path
) -> None:
    """Due at 480 s, and held for 3 m + 2 m + 60 s."""

    def expect(spec: Spec) -> None:
        named = {"name": "HighRequestErrorRate", "entity": "Deployment/checkout"}
        spec["expect"]["alerts"] = [{**named, **alert} for alert in alerts]

    fault = build_local_fault(**({"duration": duration} if duration else {}))

    assert ("SK128" in codes(scenario(expect, tmp_path, fault))) is ends


def test_trigger_may_be_short(tmp_path: Path) -> None:
    path = scenario(lambda s: s["faults"][0].update(role="Trigger"), tmp_path, build_local_fault(duration="55s"))

    assert "SK128" not in codes(path)


def test_duration_parameter_is_raised(tmp_path: Path) -> None:
    fault = build_local_fault(duration="{{ parameters.seconds }}s")
    fault["parameters"] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {"seconds": {"type": "integer", "minimum": 1, "default": 60, "description": "How long."}},
    }
    path = scenario(lambda s: None, tmp_path, fault)

    assert codes(path) == ["SK128"]
    result = fix_file(path, CATALOG)
    assert [finding.code for finding in result.left] == ["SK222"]
    assert yaml.safe_load(result.new)["spec"]["faults"][0]["parameters"] == {"seconds": 660}


def test_job_deadline_counts_as_duration_of_the_cause(tmp_path: Path) -> None:
    fault = build_local_fault()
    job = {"name": "{{ neutral('pod') }}"}
    pod = {"restartPolicy": "Never", "containers": [{"name": "a", "image": "registry.k8s.io/pause:3.10"}]}
    spec = {"activeDeadlineSeconds": 30, "template": {"spec": pod}}
    fault["changes"] = [{"create": {"apiVersion": "batch/v1", "kind": "Job", "metadata": job, "spec": spec}}]
    fault = yaml.safe_load(yaml.safe_dump(fault).replace("PodChaos.chaos-mesh.org/", "Job.batch/"))

    assert "SK128" in codes(scenario(lambda s: None, tmp_path, fault))


OBJECT = {"ref": "PodChaos.chaos-mesh.org/{{ neutral('pod') }}"}


@pytest.mark.parametrize(
    ("part", "message"),
    [
        pytest.param({"undone": []}, "the fault has no `undone` checks", id="nothing tells that it is gone"),
        pytest.param(
            {"effect": [{"object": {**OBJECT, "path": "spec.mode", "equals": "all"}}]},
            "only repeats what was written",
            id="the spec that was written",
        ),
        pytest.param(
            {"effect": [{"object": {**OBJECT, "path": "status.conditions", "exists": True}}]},
            "only repeats what was written",
            id="the claim of Chaos Mesh",
        ),
        pytest.param(
            {"undone": [{"when": "{{ false }}", "object": {**OBJECT, "exists": False}}]},
            "`undone` has no check",
            id="a proof that is left out",
        ),
        pytest.param({"changes": [{"run": {"client": "psql", "command": ["psql"]}}]}, "has no `undo`", id="a command"),
    ],
)
def test_fault_type_without_proof_is_reported(part: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = scenario(lambda s: None, tmp_path, {**build_local_fault(), **part})

    findings = lint_scenario(path.parent / "faults" / "own" / "fault.yaml")

    assert [f.message for f in findings if f.code == "SK129" and message in f.message]


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ({"mitigation": "None"}, True),
        ({"mitigation": "None", "solutions": []}, False),
        ({"mitigation": "Workaround"}, False),
        ({"solutions": []}, False),
        ({"solutions": [], "entities": [{"ref": "{{ target }}"}]}, True),
    ],
)
def test_contradictory_repair_declaration_is_reported(part: dict[str, Any], wrong: bool, tmp_path: Path) -> None:
    path = scenario(lambda s: None, tmp_path, {**build_local_fault(), **part})

    assert ("SK414" in codes(path.parent / "faults" / "own" / "fault.yaml")) is wrong


def test_missing_repair_declaration_is_reported(tmp_path: Path) -> None:
    fault = build_local_fault()
    del fault["mitigation"]
    path = scenario(lambda s: None, tmp_path, fault)

    assert "SK414" in codes(path.parent / "faults" / "own" / "fault.yaml")


def test_solution_that_only_removes_the_fault_is_reported(tmp_path: Path) -> None:
    fault = build_local_fault()
    fault["solutions"][0]["changes"] = [{"removeFault": {"fault": "{{ fault }}"}}]
    path = scenario(lambda s: None, tmp_path, fault)

    assert "SK413" in codes(path.parent / "faults" / "own" / "fault.yaml")


def test_undo_solution_gets_the_changes_of_the_fault(tmp_path: Path) -> None:
    def remove(spec: Spec) -> None:
        spec["solutions"][0]["changes"] = [{"removeFault": {"fault": "catalog-port"}}]

    path = scenario(remove, tmp_path)
    result = fix_file(path, CATALOG)

    assert result.left == ()
    (change,) = yaml.safe_load(result.new)["spec"]["solutions"][0]["changes"]
    assert change["patch"]["target"] == "Service/product-catalog"


@pytest.mark.parametrize(
    ("end", "codes"),
    [
        pytest.param("Deployment/cart", [], id="what it touches"),
        pytest.param("Deployment/frontend", [], id="who asks that"),
        pytest.param("Deployment/valkey-cart", [], id="a store that it asks"),
        pytest.param("Deployment/email", ["SK125"], id="somebody else"),
        pytest.param("Deployment/frontend-proxy", ["SK125"], id="who asks who asks that"),
    ],
)
def test_fault_affects_target_and_callers(end: str, codes: list[str], tmp_path: Path) -> None:
    def lead(spec: Spec) -> None:
        spec["groundTruth"]["propagation"].append({"from": "Fault/catalog-port", "to": end})
        spec["expect"]["alerts"].append({"name": "HighRequestErrorRate", "entity": end, "class": "MayFire"})

    found_ = lint_scenario(scenario(lead, tmp_path, build_local_fault()))
    assert [f.code for f in found_ if f.code == "SK125"] == codes


@pytest.mark.parametrize(
    ("kind", "on_node", "messages"),
    [
        ("NetworkChaos", True, ["pods of Deployment/cart, which use the network of their node"]),
        ("NetworkChaos", False, []),
        ("PodChaos", True, []),
    ],
)  # fmt: skip
def test_network_of_a_node_is_no_target_of_network_chaos(kind: str, on_node: bool, messages: list[str]) -> None:
    hosted = copy.deepcopy(list(objects()))
    cart = next(o for o in hosted if (o["kind"], o["metadata"]["name"]) == ("Deployment", "cart"))
    cart["spec"]["template"]["spec"]["hostNetwork"] = on_node
    selector = {"labelSelectors": {"opentelemetry.io/name": "cart"}}

    found = find_wrong_targets(hosted, kind, {"mode": "all", "selector": selector}, APP, None)

    assert [message.partition(" selects ")[2] for message, _, _ in found] == messages
