"""Scenarios in the forms of AIOpsLab, SREGym and ITBench, each by its own classes, on a cluster that only answers.

Neither AIOpsLab nor SREGym is on an index of packages: what their base classes do is done here by stand-ins.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.cli import run
from scenario_kit.exporters.formats.aiopslab import classify_fault
from scenario_kit.lint import lint_file
from scenario_kit.load import load_scenario
from scenario_kit.scoring.files.truths import read_truths

SCENARIOS = find_data_root() / "catalog" / "scenarios"
CHOSEN = ("cart-scaled-to-zero", "payment-pod-failure", "busy-afternoon", "hotel-all-errors")
KUBECTL = """#!/bin/sh
echo "$@" >> "{log}"
case "$*" in
  *"wait scenario/broken"*) echo "timed out" >&2; exit 1 ;;
  *condition=Resolved*) test -f "{resolved}" ;;
  *"get scenario/"*) echo '{{"status": {{"namespace": "otel-demo-bcdf"}}}}' ;;
esac
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("exported")
    for kind in ("aiopslab", "sregym", "itbench"):
        assert run(["export", kind, *(str(SCENARIOS / name) for name in CHOSEN), "--out", str(out)]) == 0
    return out


class Cluster:
    """Records kubectl calls; ``resolve`` is the state after a correct repair."""

    def __init__(self, folder: Path) -> None:
        self.log, self._resolved = folder / "log", folder / "resolved"
        program = folder / "kubectl"
        program.write_text(KUBECTL.format(log=self.log, resolved=self._resolved))
        program.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def resolve(self) -> None:
        self._resolved.touch()


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return Cluster(tmp_path)


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch, exported: Path) -> Iterator[Callable[..., Any]]:
    """Load the program of an export beside stand-ins for the modules that it needs."""

    def loaded(kind: str, **stand_ins: types.ModuleType) -> Any:
        for name, module in stand_ins.items():
            monkeypatch.setitem(sys.modules, name.replace("__", "."), module)
        monkeypatch.syspath_prepend(str(exported / kind))
        for name in ("cluster_incident", "score_answer"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        spec = importlib.util.spec_from_file_location(f"{kind}_problems", exported / kind / "problems.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    yield loaded
    for name in ("cluster_incident", "score_answer"):
        sys.modules.pop(name, None)


def make_module(**values: Any) -> types.ModuleType:
    module = types.ModuleType("stand_in")
    vars(module).update(values)
    return module


class Level:
    """A stand-in for AIOpsLab's levels."""

    key = ""

    def __init__(self, app: Any) -> None:
        self.app, self.results, self.helm_configs = app, {}, app.helm_configs
        self.app_summary = app.get_app_summary()

    def add_result(self, key: str, value: Any) -> None:
        self.results[key] = value

    def eval(self, soln: Any, trace: Any, duration: float) -> dict[str, Any]:
        self.add_result(self.key, duration)
        return self.results


@pytest.fixture
def aiopslab(load: Callable[..., Any]) -> dict[str, Any]:
    names = ("AnalysisTask", "DetectionTask", "LocalizationTask", "MitigationTask")
    levels = {name: type(name, (Level,), {"key": f"TT{name[0]}"}) for name in names}
    return load("aiopslab", aiopslab__orchestrator__tasks=make_module(**levels)).PROBLEMS


def submit(make: Callable[[], Any], solution: Any) -> dict[str, Any]:
    """Do what AIOpsLab's orchestrator does from the beginning of a problem to its end."""
    problem = make()
    problem.app.delete()
    problem.app.deploy()
    problem.inject_fault()
    problem.start_workload()
    assert problem.namespace == "otel-demo-bcdf"
    assert "otel-demo-bcdf" in problem.app_summary
    results = problem.eval(solution, [], 12.0)
    problem.recover_fault()
    problem.app.cleanup()
    return results


def test_four_levels_and_the_twin(aiopslab: dict[str, Any]) -> None:
    assert sorted(aiopslab) == sorted([
        *(f"cart_scaled_to_zero-{level}-1" for level in ("detection", "localization", "analysis", "mitigation")),
        *(f"payment_pod_failure-{level}-1" for level in ("detection", "localization", "analysis", "mitigation")),
        *(f"hotel_all_errors-{level}-1" for level in ("detection", "localization", "analysis", "mitigation")),
        *(f"{name}_control-detection-1" for name in
          ("cart_scaled_to_zero", "payment_pod_failure", "hotel_all_errors", "busy_afternoon")),
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("problem", "solution", "key", "value"),
    [
        ("cart_scaled_to_zero-detection-1", "Yes", "Detection Accuracy", "Correct"),
        ("cart_scaled_to_zero-detection-1", " no ", "Detection Accuracy", "Incorrect"),
        ("cart_scaled_to_zero-detection-1", "maybe", "Detection Accuracy", "Invalid Format"),
        ("cart_scaled_to_zero-detection-1", None, "Detection Accuracy", "Invalid Format"),
        ("cart_scaled_to_zero_control-detection-1", "Yes", "Detection Accuracy", "Incorrect"),
        ("cart_scaled_to_zero_control-detection-1", "No", "Detection Accuracy", "Correct"),
        ("busy_afternoon_control-detection-1", "No", "Detection Accuracy", "Correct"),
        ("cart_scaled_to_zero-localization-1", ["cart"], "Localization Accuracy", 100.0),
        ("cart_scaled_to_zero-localization-1", "cart", "success", True),
        ("cart_scaled_to_zero-localization-1", ["cart", "frontend"], "Localization Accuracy", 50.0),
        ("cart_scaled_to_zero-localization-1", ["cart", "frontend"], "success", False),
        ("cart_scaled_to_zero-localization-1", ["cart", "frontend"], "is_subset", True),
        ("cart_scaled_to_zero-localization-1", ["frontend"], "Localization Accuracy", 0.0),
        ("cart_scaled_to_zero-localization-1", None, "Localization Accuracy", 0.0),
        ("cart_scaled_to_zero-localization-1", [{"a": 1}], "Localization Accuracy", 0.0),
        ("cart_scaled_to_zero-localization-1", [], "success", False),
        ("cart_scaled_to_zero-analysis-1", {"system_level": "virtualization", "fault_type": "Operation Error"},
         "success", True),
        ("cart_scaled_to_zero-analysis-1", {"system_level": "Virtualization", "fault_type": "Code Defect"},
         "fault_type_correct", False),
        ("cart_scaled_to_zero-analysis-1", {"system_level": "Virtualization"}, "success", False),
        ("cart_scaled_to_zero-analysis-1", "None", "success", False),
        ("cart_scaled_to_zero-mitigation-1", None, "success", False),
    ],
)  # fmt: skip
def test_level_scores_its_solution(
    problem: str, solution: Any, key: str, value: Any, aiopslab: dict[str, Any], cluster: Cluster
) -> None:
    results = submit(aiopslab[problem], solution)
    assert results[key] == value
    assert 12.0 in results.values()


def test_mitigation_is_judged_by_the_operator(aiopslab: dict[str, Any], cluster: Cluster) -> None:
    cluster.resolve()
    assert submit(aiopslab["cart_scaled_to_zero-mitigation-1"], None)["success"] is True
    assert [call.split()[2] for call in cluster.calls] == ["delete", "apply", "wait", "get", "wait", "delete", "delete"]
    assert all(call.startswith("--namespace scenario-kit ") for call in cluster.calls)


@pytest.mark.usefixtures("cluster")
def test_missing_incident_is_an_error(load: Any, tmp_path: Path) -> None:
    load("sregym", sregym__conductor__oracles__base=make_module(Oracle=Oracle),
         sregym__conductor__problems__base=make_module(Problem=Problem))  # fmt: skip
    file = tmp_path / "broken.json"
    file.write_text(json.dumps({"metadata": {"name": "broken"}}))
    incident = sys.modules["cluster_incident"].ClusterIncident(file)
    with pytest.raises(RuntimeError, match="timed out"):
        incident.begin()


def test_every_fault_of_the_catalogue_has_an_analysis() -> None:
    catalog = Catalog()
    data = yaml.safe_load((find_data_root() / "scenario_kit/exporters/formats/aiopslab.yaml").read_text())
    for name in catalog.faults():
        entry = classify_fault(name, catalog.fault(name).family)
        assert set(entry.levels) <= set(data["levels"])
        assert set(entry.types) <= set(data["types"])
        assert entry.levels and entry.types  # noqa: PT018
    known = {*catalog.faults()}
    for name in data["faults"]:
        assert name in known or (name.endswith("-") and any(each.startswith(name) for each in known)), name


class Oracle(ABC):
    """What SREGym's oracles are (commit ba07faf1, 2026-08-06): they have no means to say why one does not hold."""

    def __init__(self, problem: Any) -> None:
        self.problem = problem

    def capture_baseline(self) -> None:
        return

    @abstractmethod
    def evaluate(self, solution: Any, trace: Any, duration: Any) -> dict[str, Any]: ...


class Problem(ABC):
    """What SREGym's problems are (the same commit)."""

    def __init__(self, app: Any, namespace: str | None = None) -> None:
        self.app = app
        self.namespace = app.namespace if namespace is None else namespace
        self.fault_injected = False

    @abstractmethod
    def inject_fault(self) -> None: ...

    @abstractmethod
    def recover_fault(self) -> None: ...


@pytest.fixture
def sregym(load: Callable[..., Any]) -> dict[str, Any]:
    return load(
        "sregym",
        sregym__conductor__oracles__base=make_module(Oracle=Oracle),
        sregym__conductor__problems__base=make_module(Problem=Problem),
    ).PROBLEMS


def test_problems_of_sregym(sregym: dict[str, Any], cluster: Cluster) -> None:
    assert sorted(sregym) == ["cart_scaled_to_zero", "hotel_all_errors", "payment_pod_failure"]
    problem = sregym["cart_scaled_to_zero"]()
    assert problem.root_cause == (
        "[fault_spec] component=deployment/cart; namespace=otel-demo || Carts and checkouts fail because the cart"
        " service has no replicas"
    )
    assert problem.app.namespace == "scenario-kit"  # SREGym runs kubectl there before the injection
    problem.inject_fault()
    assert (problem.namespace, problem.app.namespace) == ("otel-demo-bcdf", "otel-demo-bcdf")
    assert problem.fault_injected
    assert problem.mitigation_oracle.evaluate()["failure_class"] == "agent_error"
    cluster.resolve()
    assert problem.mitigation_oracle.evaluate() == {"success": True}
    problem.recover_fault()
    assert not problem.fault_injected


@pytest.mark.parametrize(
    ("diagnosis", "success"),
    [
        ("Deployment/cart has no replicas.", True),
        (
            "The root cause is otel-demo-bcdf/Deployment/cart; it is at zero. Scale Deployment/cart.",
            True,
        ),
        ('{"contributing_factors": [{"name": "otel-demo-bcdf/Deployment/cart"}]}', True),
        ({"contributing_factors": [{"name": "Deployment/cart"}]}, True),
        ("Deployment/cart and Deployment/frontend", False),
        ("the cart is broken", False),
        ("Deployment/frontend", False),
        ("", False),
        (None, False),
    ],
)
def test_diagnosis_names_objects(diagnosis: Any, success: bool, sregym: dict[str, Any]) -> None:
    verdict = sregym["cart_scaled_to_zero"]().diagnosis_oracle.evaluate(diagnosis)
    assert verdict["success"] is success
    assert success or verdict["failure_class"] == "agent_error"


def test_exported_scenarios_are_valid(exported: Path) -> None:
    """Exported objects pass the same rules; controls have no ground truth."""
    for kind in ("aiopslab", "sregym"):
        for path in sorted((exported / kind / "scenarios").glob("*.json")):
            if path.stem.startswith("hotel-all-errors"):  # its fault lies beside it
                continue
            file = path.parent / path.stem / "scenario.yaml"
            file.parent.mkdir(exist_ok=True)
            file.write_text(path.read_text())
            scenario = load_scenario(file).scenario
            assert scenario.name == path.stem
            errors = [f for f in lint_file(file, Catalog()) if f.severity.name == "ERROR"]
            assert [(f.code, f.message) for f in errors] == []


def test_features_missing_in_itbench_are_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("hotel-all-errors", "orders-never-booked")
    assert (
        run(["export", "itbench", *(str(SCENARIOS / n) for n in names), "--out", str(tmp_path), "--format", "json"])
        == 0
    )
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert "has no scenario.yaml: ITBench has no app hotel-reservation" in notes[0]
    assert "ITBench has no injection for the fault type network-policy-deny-egress (books-policy)" in notes[1]
    assert not (tmp_path / "itbench" / "indexes").exists()
    assert len(list((tmp_path / "itbench").glob("scenario_*/groundtruth.yaml"))) == 2


def test_itbench_export_round_trips(exported: Path, tmp_path: Path) -> None:
    """Truths by our reader of ITBench, scenarios by our importer: the same roots, fault and target."""
    folder = exported / "itbench"
    records = [json.loads(path.read_text()) for path in (folder / "indexes" / "scenarios").glob("*.json")]
    index = {each["description"]: each for each in records}
    spec = load_scenario(SCENARIOS / "cart-scaled-to-zero" / "scenario.yaml").scenario.spec
    record = index[spec.title]
    assert record["complexity"] in ("low", "medium", "high")
    assert record["alerts"] == ["HighRequestErrorRate"]
    place = folder / f"scenario_{record['id']}"
    for name in ("groundtruth.yaml", "groundtruth_v1.yaml"):
        truth = read_truths(place / name)[0].truth
        roots = [(g.namespace, g.kind, g.names) for g in truth.groups if g.root]
        assert roots == [("otel-demo", "Deployment", ("cart",))]
    assert run(["import", "itbench", str(folder), "--out", str(tmp_path / "drafts"), "--author", "Ada"]) == 0
    drafts = {p.parent.name: load_scenario(p).scenario.spec for p in (tmp_path / "drafts").glob("*/scenario.yaml")}
    (use,) = drafts[f"scenario-{record['id']}"].faults
    assert (use.type, use.target) == ("deployment-scaled-to-zero", "Deployment/cart")
    payment = index[load_scenario(SCENARIOS / "payment-pod-failure" / "scenario.yaml").scenario.spec.title]
    (use,) = drafts[f"scenario-{payment['id']}"].faults
    assert (use.type, use.target) == ("pod-failure", "Deployment/payment")


@pytest.mark.parametrize(
    ("scenario", "injection", "expected"),
    [
        # Required by ITBench's schema, although the scenario leaves it to the fault's default.
        ("baskets-forgotten", "valkey-workload-out-of-memory", {"container": {"name": "valkey-cart"}}),
        (
            "shipping-quote-address-wrong",
            "modified-kubernetes-workload-container-environment-variable",
            {"container": {"name": "shipping", "env": {"name": "QUOTE_ADDR", "value": "http://quotes:8080"}}},
        ),
        ("cart-scaled-to-zero", "scaled-to-zero-kubernetes-workload", {}),
    ],
)
def test_injections_have_the_arguments_that_itbench_requires(
    scenario: str, injection: str, expected: dict[str, Any], tmp_path: Path
) -> None:
    assert run(["export", "itbench", str(SCENARIOS / scenario), "--out", str(tmp_path)]) == 0
    (path,) = (tmp_path / "itbench" / "indexes" / "scenarios").glob("*.json")
    made = json.loads(path.read_text())["disruptions"][0]["injections"][0]
    assert made["id"] == injection
    assert {key: value for key, value in made["args"].items() if key != "kubernetesObject"} == expected


def test_truths_of_itbench_name_the_api_version_and_each_alert_once(tmp_path: Path) -> None:
    assert run(["export", "itbench", str(SCENARIOS / "cart-scaled-to-zero"), "--out", str(tmp_path)]) == 0
    (path,) = (tmp_path / "itbench").glob("scenario_*/groundtruth.yaml")
    spec = yaml.safe_load(path.read_text())["spec"]
    metadata = {"name": "cart", "namespace": "otel-demo"}
    assert spec["entities"] == [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata}]
    assert spec["alerts"] == [{"name": "HighRequestErrorRate", "labels": {}}]


@pytest.mark.parametrize("kind", ["aiopslab", "sregym", "itbench"])
def test_missing_scenario_is_refused(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", kind, str(tmp_path / "nothing"), "--out", str(tmp_path / "out")]) == 3
    assert not (tmp_path / "out").exists()
