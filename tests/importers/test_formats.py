"""Imports of every format: results for small inputs, with nothing lost silently."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.importers import FORMATS, ImportResult, InputFile, mechanisms, read_inputs, run_import
from scenario_kit.importers.targets import AppFinder
from scenario_kit.lint import lint_file
from scenario_kit.model import Severity
from scenario_kit.render.faults import fault

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples" / "import"
INPUTS = {
    "itbench": EXAMPLES / "itbench",
    "sregym": EXAMPLES / "sregym.py",
    "aiopslab": EXAMPLES / "aiopslab.py",
    "litmus": EXAMPLES / "litmus.yaml",
    "chaos-mesh": EXAMPLES / "chaos-mesh.yaml",
    "krkn": EXAMPLES / "krkn.yaml",
    "promrules": EXAMPLES / "rules.yaml",
}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog()


def import_text(format: str, catalog: Catalog, text: str = "", path: str = "input.yaml", **more: str) -> ImportResult:
    files = [InputFile(path, text)] if text else read_inputs(INPUTS[format], FORMATS[format].endings)
    return run_import(format, files, catalog, **more)


def spec(result: ImportResult, number: int = 0) -> dict:
    return yaml.safe_load(result.drafts[number].text)["spec"]


def decision(result: ImportResult, place: str):
    (found,) = [each for each in result.decisions if each.place == place]
    return found


def test_every_format_has_an_example() -> None:
    assert set(INPUTS) == set(FORMATS)


@pytest.mark.parametrize("format", INPUTS)
def test_drafts_pass_lint(format: str, catalog: Catalog, tmp_path: Path) -> None:
    result = import_text(format, catalog)
    assert result.drafts
    for draft in result.drafts:
        file = tmp_path / draft.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(draft.text)
    for draft in result.drafts:
        if "/tests/" in draft.path:
            continue
        findings = lint_file(tmp_path / draft.path, catalog)
        assert not [f for f in findings if f.severity is Severity.ERROR]
        questions = [f.message.removeprefix("to decide: ") for f in findings if f.code == "SK611"]
        assert questions == [" ".join(question.split()) for question in draft.questions]


@pytest.mark.parametrize("format", INPUTS)
def test_every_decision_has_its_line_and_its_reason(format: str, catalog: Catalog) -> None:
    for each in import_text(format, catalog).decisions:
        line = Path(each.position.path).read_text().splitlines()[each.position.line - 1]
        assert 1 <= each.position.column <= len(line)
        last = re.sub(r"\[\d+\]$", "", each.place).rpartition(".")[2]
        if format not in ("sregym", "aiopslab") and each.place != "." and not each.place.endswith("]"):
            assert line[each.position.column - 1 :].lstrip("'\"").startswith(last), each
        if each.treatment in ("Refused", "Guessed"):
            assert each.reason, each
            assert each.fix, each


def test_workflow_becomes_staged_faults(catalog: Catalog) -> None:
    result = import_text("chaos-mesh", catalog)
    late, lossy = spec(result)["faults"]
    assert (late["type"], late["target"], "start" in late) == ("network-delay", "Deployment/search", False)
    assert late["parameters"]["latencyMilliseconds"] == 900
    assert (lossy["type"], lossy["target"]) == ("network-loss", "Deployment/geo")
    assert lossy["start"] == {"afterSeconds": 300}
    assert lossy["parameters"]["lossPercent"] == 80
    assert decision(result, "spec.templates[3].networkChaos.loss.loss").treatment == "Guessed"
    assert spec(result, 1)["faults"][0]["recurrence"] == {"everySeconds": 600}


@pytest.mark.parametrize(
    ("mode", "pods", "expected", "treatment"),
    [
        ("mode: one", 3, 1, "Mapped"),
        ("mode: fixed, value: '2'", 3, 2, "Mapped"),
        ("mode: one", 1, None, "Taken"),
        ("mode: all", 3, None, "Taken"),
        ("mode: fixed, value: '5'", 3, None, "Taken"),
        ("mode: fixed-percent, value: '50'", 3, None, "Guessed"),
        ("mode: fixed, value: half", 3, None, "Guessed"),
    ],
)
def test_experiment_mode_maps_to_replicas(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch, mode: str, pods: int, expected: int | None, treatment: str
) -> None:
    monkeypatch.setattr(AppFinder, "count_replicas", lambda *_: pods)
    # No workload of the apps has more than one pod by itself, so that a draft could not be rendered.
    monkeypatch.setattr(fault, "measure_share", lambda *_: 1.0)
    text = (
        "apiVersion: chaos-mesh.org/v1alpha1\nkind: NetworkChaos\nmetadata: {name: n}\nspec:\n  action: loss\n"
        "  loss: {loss: '40'}\n  selector: {namespaces: [otel-demo], labelSelectors: {app: cart}}\n"
        f"  {mode.replace(', ', chr(10) + '  ')}\n"
    )
    result = import_text("chaos-mesh", catalog, text)
    assert spec(result)["faults"][0].get("replicas") == expected
    assert decision(result, "spec.mode").treatment == treatment


def test_stages_of_a_workflow(catalog: Catalog) -> None:
    def stage(name: str, more: str = "") -> str:
        target = "selector: {namespaces: [otel-demo], labelSelectors: {app: " + name + "}}"
        chaos = "{action: pod-failure, mode: all, " + target + "}"
        return f"  - {{name: {name}, templateType: PodChaos, deadline: 2m, podChaos: {chaos}{more}}}\n"

    text = (
        "apiVersion: chaos-mesh.org/v1alpha1\nkind: Workflow\nmetadata: {name: w}\nspec:\n  entry: main\n  templates:\n"
        "  - {name: main, templateType: Serial, children: [both, quote, ring, gone]}\n"
        "  - {name: both, templateType: Parallel, children: [cart, payment]}\n"
        "  - {name: ring, templateType: Serial, children: [main]}\n"
        "  - {name: task, templateType: Task, task: {container: {image: x}}}\n"
        + stage("cart") + stage("payment") + stage("quote")
    )  # fmt: skip
    result = import_text("chaos-mesh", catalog, text)
    starts = {fault["target"]: fault.get("start") for fault in spec(result)["faults"]}
    assert starts == {
        "Deployment/cart": None, "Deployment/payment": None, "Deployment/quote": {"afterSeconds": 120},
    }  # fmt: skip
    reasons = {each.place: each.reason for each in result.decisions if each.treatment == "Refused"}
    assert "cycle" in reasons["spec.templates[0]"]
    assert "does not exist" in reasons["spec.templates[0].children[3]"]
    assert "unreachable" in reasons["spec.templates[3]"]


@pytest.mark.parametrize(
    ("chaos", "fault", "parameters"),
    [
        ("{kind: StressChaos, stressors: {cpu: {workers: 4, load: 90}}}",
         "cpu-stress", {"workers": 4, "loadPercent": 90}),
        ("{kind: NetworkChaos, action: bandwidth, bandwidth: {rate: 1mbps, limit: 30000, buffer: 10000}}",
         "network-bandwidth", {"rateKilobits": 8000, "queueBytes": 30000, "burstBytes": 10000}),
        ("{kind: NetworkChaos, action: partition, direction: both,"
         " target: {mode: all, selector: {labelSelectors: {app: cart}}}}",
         "network-partition", {"peer": "Deployment/cart", "direction": "both"}),
        ("{kind: TimeChaos, timeOffset: -10m}", "clock-skew", {"offsetSeconds": -600}),
        ("{kind: NetworkChaos, action: delay, delay: {latency: 2s, reorder: {reorder: '30', gap: 2}}}",
         "network-reorder", {"latencyMilliseconds": 2000, "reorderPercent": 30, "gap": 2}),
    ],
)  # fmt: skip
def test_experiments_keep_their_parameters(chaos: str, fault: str, parameters: dict, catalog: Catalog) -> None:
    body = yaml.safe_load(chaos)
    selector = {"namespaces": ["otel-demo"], "labelSelectors": {"app": "checkout"}}
    document = {
        "apiVersion": "chaos-mesh.org/v1alpha1", "kind": body.pop("kind"), "metadata": {"name": "x"},
        "spec": {"mode": "all", "selector": selector, **body},
    }  # fmt: skip
    (use,) = spec(import_text("chaos-mesh", catalog, yaml.safe_dump(document)))["faults"]
    assert use["type"] == fault
    assert parameters.items() <= use["parameters"].items()


def test_unsupported_kind_is_refused_with_reason(catalog: Catalog) -> None:
    text = "apiVersion: chaos-mesh.org/v1alpha1\nkind: KernelChaos\nmetadata: {name: k}\nspec: {mode: all}\n"
    result = import_text("chaos-mesh", catalog, text)
    assert not result.drafts
    assert "kernel errors" in decision(result, "spec").reason


def test_engines_in_workflow_keep_line_numbers(catalog: Catalog) -> None:
    engine = """\
apiVersion: litmuschaos.io/v1alpha1
kind: ChaosEngine
metadata: {name: inner}
spec:
  appinfo: {appns: hotel-reservation, applabel: io.kompose.service=rate}
  experiments:
  - name: pod-network-loss
    spec: {components: {env: [{name: NETWORK_PACKET_LOSS_PERCENTAGE, value: "40"}]}}
"""
    text = (
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {generateName: w-}\nspec:\n  entrypoint: main\n"
        "  templates:\n  - name: main\n    steps:\n    - - {name: a, template: kill}\n  - name: kill\n    inputs:\n"
        "      artifacts:\n      - raw:\n          data: |\n"
        + "".join(f"            {line}\n" for line in engine.splitlines())
    )
    result = import_text("litmus", catalog, text)
    assert spec(result)["faults"][0]["parameters"]["lossPercent"] == 40
    label = decision(result, "spec.appinfo.applabel")
    assert "applabel" in text.splitlines()[label.position.line - 1]


def test_experiments_of_engine_run_in_sequence(catalog: Catalog) -> None:
    text = (INPUTS["litmus"].read_text()).replace("pod-dns-spoof", "pod-cpu-hog")
    first, second = spec(import_text("litmus", catalog, text))["faults"]
    assert "start" not in first
    assert second["start"] == {"afterSeconds": 120}


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("application_outage: {duration: 60, namespace: otel-demo, pod_selector: {app: cart}, block: [Ingress]}",
         ["network-policy-deny-ingress"]),
        ("scenarios:\n- {name: k, namespace: otel-demo, label_selector: app=cart, container_name: cart, action: 9}",
         ["container-kill"]),
        ("time_scenarios:\n- {action: skew_time, object_type: pod, label_selector: app=cart, namespace: otel-demo}",
         ["clock-skew"]),
        ("- id: pod_egress_shaping\n  namespace: otel-demo\n  label_selector: app=payment\n  loss: '0.4'",
         ["network-loss"]),
    ],
)  # fmt: skip
def test_forms_of_krkn(text: str, types: list[str], catalog: Catalog) -> None:
    assert [use["type"] for use in spec(import_text("krkn", catalog, text))["faults"]] == types


@pytest.mark.parametrize("text", ["hog-type: cpu\nduration: 60", "kraken: {a: []}", "zone_outage: {zone: a}"])
def test_krkn_on_nodes_and_clouds_is_refused(text: str, catalog: Catalog) -> None:
    result = import_text("krkn", catalog, text)
    assert not result.drafts
    assert [each.treatment for each in result.decisions] == ["Refused"]


def test_truth_is_compared_with_the_draft(catalog: Catalog) -> None:
    result = import_text("itbench", catalog)
    truth = {each.place: each for each in result.decisions if each.position.path.endswith("groundtruth.yaml")}
    assert truth["groups[0]"].result == "groundTruth.rootCauses: Deployment/shipping"
    assert truth["recommended_actions"].treatment == "Refused"
    wrong = INPUTS["itbench"].joinpath("groundtruth.yaml").read_text().replace("shipping-.*", "payment-.*")
    files = [
        InputFile("a/scenario.yaml", (INPUTS["itbench"] / "scenario.yaml").read_text()),
        InputFile("a/gt.yaml", wrong),
    ]
    other = run_import("itbench", files, catalog)
    assert decision(other, "groups[0]").treatment == "Refused"
    assert "Deployment/shipping" in decision(other, "groups[0]").reason


def test_ground_truth_alone_is_refused(catalog: Catalog) -> None:
    text = (INPUTS["itbench"] / "groundtruth.yaml").read_text()
    result = import_text("itbench", catalog, text)
    assert not result.drafts
    assert "does not describe the injection" in decision(result, ".").reason


def test_code_is_read_and_never_executed(catalog: Catalog, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    text = INPUTS["sregym"].read_text() + f"\nopen({str(mark)!r}, 'w').close()\n"
    result = import_text("sregym", catalog, text, "p.py")
    assert not mark.exists()
    assert decision(result, "module").reason == "code is not executed"
    computed = decision(result, "FrontendProbe.__init__.self.attempts")
    assert (computed.treatment, computed.reason[:8]) == ("Refused", "computed")


def test_registry_chooses_arguments(catalog: Catalog) -> None:
    registry = (
        "class ProblemRegistry:\n    def __init__(self):\n        self.problems = {\n"
        '            "probe_hotel": lambda: FrontendProbe(app_name="hotel_reservation", faulty_service="geo"),\n'
        '            "probe_social": lambda: FrontendProbe(app_name="social_network", faulty_service="user-service"),\n'
        '            "elsewhere": Elsewhere,\n        }\n'
    )
    text = INPUTS["sregym"].read_text().replace("self.app = AstronomyShop()", "self.app = HotelReservation()")
    files = [InputFile("p.py", text), InputFile("registry.py", registry)]
    result = run_import("sregym", files, catalog)
    assert [draft.name for draft in result.drafts] == ["probe-hotel"]
    assert spec(result)["faults"][0]["target"] == "Deployment/geo"
    assert decision(result, "probe_social").treatment == "Refused"
    assert "not in the imported files" in decision(result, "elsewhere").reason


def test_problem_levels_share_one_draft(catalog: Catalog) -> None:
    result = import_text("aiopslab", catalog)
    assert [draft.name for draft in result.drafts] == ["user-delay"]
    assert decision(result, "UserDelayDetection.eval").treatment == "Refused"


def test_imported_rules_keep_their_fields(catalog: Catalog) -> None:
    result = import_text("promrules", catalog)
    (group,) = yaml.safe_load(result.drafts[0].text)["groups"]
    (rule,) = group["rules"]
    assert rule["entity"] == {"label": "service_name", "kind": "Component"}
    assert "namespace" not in rule["expr"]
    assert "unclosed" in decision(result, "spec.groups[0].rules[1]").reason
    (case,) = yaml.safe_load(result.drafts[1].text)
    assert case["fires"] == "cart"
    assert case["minute"] == 7


MIXIN = """groups:
- name: records
  rules:
  - record: cpu:rate5m
    expr: sum by (cluster, namespace, pod) (rate(container_cpu_usage_seconds_total{job="kubelet", image!=""}[5m]))
  - {record: "owner:relabel", expr: "kube_pod_owner", labels: {workload_type: deployment}}
- name: alerts
  rules:
  - {alert: Busy, expr: "sum by (namespace) (cpu:rate5m) > 1", annotations: {summary: "{{ $labels.pod }}"}}
  - {alert: Hot, expr: "cpu:rate5m > 1", annotations: {summary: "{{ $labels.pod }}"}}
  - {alert: Chosen, expr: 'cpu:rate5m{pod="a"} > 1'}
  - alert: Crash
    expr: kube_pod_container_status_waiting{reason="CrashLoopBackOff", job="kube-state-metrics", cluster=~".+"} > 0
    keep_firing_for: 5m
  - {alert: Other, expr: 'up{job="podinfo"} == 0'}
"""


def test_recording_rules_stay_with_the_alerts_that_use_them(catalog: Catalog) -> None:
    result = import_text("promrules", catalog, MIXIN)
    records, alerts = yaml.safe_load(result.drafts[0].text)["groups"]

    assert [rule["record"] for rule in records["rules"]] == ["cpu:rate5m", "owner:relabel"]
    assert records["rules"][1]["labels"] == {"workload_type": "deployment"}
    assert [rule["alert"] for rule in alerts["rules"]] == ["Busy", "Hot", "Crash", "Other"]
    assert "used with labels or an offset" in decision(result, "groups[1].rules[2]").reason


def test_labels_of_a_clusters_own_scrapes_are_removed(catalog: Catalog) -> None:
    result = import_text("promrules", catalog, MIXIN)
    records, alerts = yaml.safe_load(result.drafts[0].text)["groups"]
    expressions = {
        rule.get("alert", rule.get("record")): rule["expr"] for rule in (*records["rules"], *alerts["rules"])
    }

    assert '{image!=""}' in expressions["cpu:rate5m"]
    assert '{reason="CrashLoopBackOff", }' in expressions["Crash"]
    assert '{job="podinfo"}' in expressions["Other"], "the app's own"
    reason = decision(result, "groups[1].rules[3].expr").reason
    assert reason == ("matchers of `job`, `cluster` are removed: `job`, `cluster` depend on how a cluster is scraped")


def test_entity_is_a_label_of_the_result(catalog: Catalog) -> None:
    _, alerts = yaml.safe_load(import_text("promrules", catalog, MIXIN).drafts[0].text)["groups"]

    assert [rule.get("entity", {}).get("label") for rule in alerts["rules"]] == [None, "pod", None, None]


def test_recording_rules_alone_are_no_pack(catalog: Catalog) -> None:
    text = MIXIN.partition("- name: alerts")[0]
    result = import_text("promrules", catalog, text)

    assert result.drafts == ()
    assert any("it has no alerts" in each.reason for each in result.decisions)


def test_app_can_be_chosen(catalog: Catalog) -> None:
    text = INPUTS["litmus"].read_text().replace("otel-demo", "shop").replace("component=checkout", "component=frontend")
    assert spec(import_text("litmus", catalog, text))["app"]["name"] == "otel-demo"
    assert spec(import_text("litmus", catalog, text, app="hotel-reservation"))["app"]["name"] == "hotel-reservation"


def test_mechanisms_refer_to_existing_faults_and_parameters(catalog: Catalog) -> None:
    groups = (mechanisms.LITMUS, mechanisms.KRKN, mechanisms.ITBENCH, mechanisms.INJECTIONS)
    for each in (*mechanisms.CHAOS_MESH, *(each for group in groups for each in group.values())):
        assert each.fault or each.because, each
        if each.fault:
            properties = catalog.fault(each.fault).parameters.get("properties", {})
            named = {rule.parameter for rule in each.fields.values() if rule.parameter} | set(each.parameters)
            assert named <= set(properties), each.fault
        assert all(rule.parameter or rule.because for rule in each.fields.values()), each.fault
