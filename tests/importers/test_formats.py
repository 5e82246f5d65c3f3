"""Imports of every format: results for small inputs, with nothing lost silently."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.importers import FORMATS, InputFile, mechanisms, run_import
from scenario_kit.importers.targets import AppFinder
from scenario_kit.lint import lint_file
from scenario_kit.model import Severity
from scenario_kit.render.faults import fault
from tests.importers.results import INPUTS, decision, import_text, spec


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog()


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


def test_experiments_on_nodes_are_refused_for_their_nodes(catalog: Catalog) -> None:
    text = (
        "apiVersion: litmuschaos.io/v1alpha1\nkind: ChaosEngine\nmetadata: {name: e}\n"
        "spec: {experiments: [{name: node-cpu-hog}]}\n"
    )
    result = import_text("litmus", catalog, text)

    reasons = [each.reason for each in result.decisions if each.treatment == "Refused"]
    assert reasons == ["the target is a node: noisy-neighbor loads the node of a workload"]


def test_artifacts_of_a_workflow_use_its_parameters(catalog: Catalog) -> None:
    text = (
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: w}\nspec:\n"
        "  arguments: {parameters: [{name: label, value: app.kubernetes.io/component=cart}]}\n  templates:\n"
        "  - name: kill\n    inputs:\n      artifacts:\n      - raw:\n          data: |\n"
        "            apiVersion: litmuschaos.io/v1alpha1\n            kind: ChaosEngine\n            spec:\n"
        "              appinfo: {appns: otel-demo, applabel: '{{workflow.parameters.label}}'}\n"
        "              experiments: [{name: pod-delete}]\n"
    )
    result = import_text("litmus", catalog, text)

    assert spec(result)["faults"][0]["target"] == "Deployment/cart"
    assert decision(result, "spec.arguments.parameters[0].value").treatment == "Taken"


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


@pytest.mark.parametrize(
    "text",
    [
        "hog-type: cpu\nduration: 60",
        "kraken: {a: []}",
        "zone_outage: {zone: a}",
        "- {id: node_network_chaos, target: a}",
        "- {id: vmi_network_filter, namespace: a}",
        "- {expr: up == 0, severity: info}",
    ],
)
def test_krkn_on_nodes_and_clouds_is_refused(text: str, catalog: Catalog) -> None:
    result = import_text("krkn", catalog, text)
    assert not result.drafts
    assert [each.treatment for each in result.decisions] == ["Refused"]


def test_parameter_that_fails_lint_falls_back_to_the_default(catalog: Catalog) -> None:
    text = """
spec:
  applications: {opentelemetryDemo: {enabled: true}}
  faults:
  - injections:
    - id: crashing-kubernetes-workload-init-container
      args:
        kubernetesObject: {apiVersion: apps/v1, kind: Deployment, metadata: {name: checkout}}
        configMapName: features
kind: Scenario
apiVersion: itbench.io/v2
"""
    result = import_text("itbench", catalog, text)

    (use,) = spec(result)["faults"]
    assert (use["type"], use["parameters"].get("configMapName")) != ("init-container-crash", "features")
    assert any("`parameters.configMapName` would not pass lint" in each.reason for each in result.decisions)


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


SEVERAL = """
class Several(Problem):
    def __init__(self, **kwargs):
        super().__init__(app=HotelReservation())
        self.faulty_service = ["geo", "rate", "no-such-service"]
        if pinned := kwargs.get("pinned", False):
            self.pinned = pinned

    def inject_fault(self):
        if getattr(self, "pinned", False):
            self.injector._inject(fault_type="assign_to_non_existent_node", microservices=self.faulty_service)
        for service in self.faulty_service:
            self.injector._inject(fault_type="scale_pods_to_zero", microservices=[service])


class ProblemRegistry:
    problems = {"plain": Several, "pinned": lambda: Several(pinned=True)}
"""


def test_every_service_and_every_injection_becomes_a_fault(catalog: Catalog) -> None:
    result = import_text("sregym", catalog, SEVERAL, "p.py")

    assert [draft.name for draft in result.drafts] == ["plain", "pinned"]
    plain, pinned = ([(use["type"], use["target"]) for use in spec(result, i)["faults"]] for i in (0, 1))
    zero = [("deployment-scaled-to-zero", "Deployment/geo"), ("deployment-scaled-to-zero", "Deployment/rate")]
    assert plain == zero
    assert pinned == [
        ("node-selector-unsatisfiable", "Deployment/geo"), ("node-selector-unsatisfiable", "Deployment/rate"), *zero
    ]  # fmt: skip
    assert any("no component for 'no-such-service'" in each.reason for each in result.decisions)


def test_injection_under_an_unknown_condition_is_a_question(catalog: Catalog) -> None:
    text = SEVERAL.replace('getattr(self, "pinned", False)', "self.kubectl.is_ready()")
    result = import_text("sregym", catalog, text, "p.py")
    assert {use["type"] for use in spec(result)["faults"]} == {"deployment-scaled-to-zero"}
    assert any(each.reason == "its condition is computed at run time" for each in result.decisions)

    only = text.partition("        for service")[0] + text.partition("microservices=[service])\n")[2]
    result = import_text("sregym", catalog, only, "p.py")
    assert {use["type"] for use in spec(result)["faults"]} == {"node-selector-unsatisfiable"}
    assert any("under a condition" in question for question in result.drafts[0].questions)


def test_abstract_class_is_no_problem_of_its_own(catalog: Catalog) -> None:
    text = SEVERAL.replace(
        "    def inject_fault", "    @abstractmethod\n    def set_limit(self): ...\n\n    def inject_fault"
    )
    result = import_text("sregym", catalog, text.partition("class ProblemRegistry")[0], "p.py")

    assert not result.drafts


def test_only_registries_instantiate_problems(catalog: Catalog) -> None:
    text = (
        INPUTS["sregym"].read_text()
        + "\nLABELS = {'app': str(7), 'kind': Elsewhere}\n"
        + "PROBLEMS = {'probe': Elsewhere, 'all': PROBLEM_NAMES, 'shop': Shop}\nclass Shop:\n    pass\n"
    )
    result = import_text("sregym", catalog, text, "p.py")

    unknown = [each.place for each in result.decisions if "not in the imported files" in each.reason]
    assert unknown == ["probe"]
    assert decision(result, "all").reason == "PROBLEM_NAMES is a constant, and not the class of a problem"
    assert decision(result, "shop").reason == "Shop is not the class of a problem"


@pytest.mark.parametrize(
    ("made", "app"),
    [("BlueprintHotelReservation()", "BlueprintHotelReservation"), ("FleetCast(replicas=2)", "FleetCast")],
)
def test_app_that_the_catalogue_lacks_is_named(made: str, app: str, catalog: Catalog) -> None:
    text = (
        "class Retries(Problem):\n"
        f"    def __init__(self):\n        super().__init__(app={made})\n        self.faulty_service = 'rpc'\n"
        "    def inject_fault(self):\n        self.injector.inject_rpc_timeout(configmap=self.faulty_service)\n"
    )
    reason = decision(import_text("sregym", catalog, text, "p.py"), "Retries").reason
    assert reason == f"the catalogue does not have the app {app}"


@pytest.mark.parametrize(
    ("format", "text", "reason", "fix"),
    [
        (
            "krkn",
            "kraken: {kubeconfig_path: ~/.kube/config}\n",
            "this is the configuration of a krkn run",
            "import the scenario files that it names",
        ),
        (
            "chaos-mesh",
            "apiVersion: chaos-mesh.org/v1alpha1\nkind: StatusCheck\nmetadata: {name: up}\nspec: {mode: Synchronous}\n",
            "it injects nothing",
            "write it into `expect.checks` of the draft",
        ),
        (
            "litmus",
            "apiVersion: litmuschaos.io/v1alpha1\nkind: ChaosEngine\nmetadata: {name: e}\n"
            "spec: {appinfo: {applabel: app=cart, appns: otel-demo}, experiments: [{name: aws-az-chaos}]}\n",
            "no fault is known for the experiment 'aws-az-chaos'",
            "choose a fault that `scenario-kit catalog faults` lists",
        ),
    ],
)
def test_refusals_tell_what_to_do_instead(format: str, text: str, reason: str, fix: str, catalog: Catalog) -> None:
    found = import_text(format, catalog, text).decisions
    assert (reason, fix) in [(each.reason, each.fix) for each in found]


@pytest.mark.parametrize(
    "text",
    [
        "metadata:\n  name: {{ .Values.name }}-chaos\n",
        "{{- if .Values.enabled }}\nkind: PodChaos\n{{- end }}\n",
        "{% for name in names %}\nkind: PodChaos\n{% endfor %}\n",
    ],
)
def test_templates_are_refused_as_templates(text: str, catalog: Catalog) -> None:
    files = [InputFile("chart.yaml", text), InputFile("other.yaml", "kind: PodChaos\n  name: x\n")]
    refused = {each.position.path: each for each in run_import("chaos-mesh", files, catalog).decisions}

    assert refused["chart.yaml"].reason == "the file is a template, and not YAML before it is rendered"
    assert "helm template" in refused["chart.yaml"].fix
    assert "template" not in refused["other.yaml"].reason


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
