"""``verify --cluster current``: choice of the cluster, confirmation, the Validation, and remaining objects."""

import json
import sys
from pathlib import Path

import kubernetes.config
import pytest
import typer
from msgspec import structs

from operators.scenario.validation_input import resolve_validation
from scenario_kit.campaign import Polling, Validation, get_plan
from scenario_kit.campaign.planning.plan_file import choose_plan
from scenario_kit.campaign.remote_validation import REPORT_KEY, RemoteValidation, build_validation
from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.cli import run
from scenario_kit.cli.validation import cluster_place
from scenario_kit.cli.validation.cluster_place import (
    ChosenCluster,
    ClusterChoice,
    ClusterPlace,
    build_spec,
    complete_report,
    explain_interruption,
    plan_case,
    read_remote_report,
    require_operator,
)
from scenario_kit.cli.validation.validate import CampaignCase, ValidationOptions
from scenario_kit.errors import InfrastructureError, UsageError
from scenario_kit.load import load_scenario
from scenario_kit.load.schema.validation import find_mistakes
from scenario_kit.load.yaml.document import Positions
from scenario_kit.model import Finding, Position, Severity, Verdict
from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE
from scenario_kit.model.results.trial import VALIDATION_LABEL
from scenario_kit.report import Report
from scenario_kit.report.document import dump_report
from scenario_kit.schema import expand, load_definitions
from scenario_kit.testing import FakeCluster

ROOT = find_data_root()
CATALOG = Catalog([ROOT])
SCENARIOS = ROOT / "catalog" / "scenarios"
#: A scenario with a fault type of its own.
OWN = SCENARIOS / "hotel-all-errors" / "scenario.yaml"


def build_case(file=OWN, plan="try"):
    return CampaignCase(load_scenario(file), [], file, get_plan(plan), CATALOG)


@pytest.fixture
def kubeconfig(tmp_path, monkeypatch):
    def write(current="staging"):
        file = tmp_path / "config"
        cluster = {"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}
        context = {"name": "staging", "context": {"cluster": "c", "user": "u"}}
        document = {"clusters": [cluster], "users": [{"name": "u", "user": {}}], "contexts": [context]}
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": current, **document}))
        # The official client reads the variable KUBECONFIG once, when it is imported.
        monkeypatch.setattr(kubernetes.config.kube_config, "KUBE_CONFIG_DEFAULT_LOCATION", str(file))

    return write


def verify(*options):
    return run(["verify", str(OWN), *options])


def test_current_context_must_be_named(kubeconfig, capsys):
    kubeconfig()
    assert verify("--cluster", "current") == 3
    error = capsys.readouterr().err
    assert "needs the name of its context; the current one is 'staging'" in error
    assert "--context staging" in error


def test_kubeconfig_without_current_context_is_an_error(kubeconfig, capsys):
    kubeconfig(current="")
    assert verify("--cluster", "current") == 3
    assert "--context NAME" in capsys.readouterr().err


@pytest.mark.parametrize("answer", [True, False])
def test_terminal_user_must_confirm_the_context(kubeconfig, monkeypatch, answer, capsys):
    kubeconfig()
    requests = []
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)

    def confirm(text, **more):
        requests.append(text)
        if not answer:
            raise typer.Abort

    monkeypatch.setattr(typer, "confirm", confirm)
    assert verify("--cluster", "current") == (2 if answer else 130)  # nobody listens at that address
    assert requests == ["Inject faults into the cluster of the context 'staging'?"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--context", "staging"], "--context does not apply to --cluster lab"),
        (["--timeout", "5"], "--timeout does not apply to --cluster lab"),
        (["--cluster", "current", "--image", "x"], "--image does not apply to --cluster current"),
        (["--cluster", "kind", "--context", "x"], "--context does not apply to --cluster kind"),
        (["--cluster", "moon"], "invalid value 'moon' for --cluster"),
        (["--cluster", "current", "--context", "nowhere"], "nowhere"),
        (["--cluster", "current", "--timeout", "0"], "--timeout"),
        (["--cluster", "current", "--timeout", "1441"], "--timeout"),
    ],
)
def test_conflicting_options_are_refused(kubeconfig, capsys, options, text):
    kubeconfig()
    assert verify(*options) in (2, 3)
    assert text in capsys.readouterr().err


def test_missing_operator_message_explains_installation():
    cluster = FakeCluster()
    require_operator(cluster, "c")
    cluster.kinds = list
    with pytest.raises(UsageError, match="does not serve Trial and Validation") as raised:
        require_operator(cluster, "c")
    assert "operator manifests" in raised.value.fix


@pytest.mark.parametrize("plan", ["quick", str(Path(__file__).parents[2] / "docs" / "examples" / "plan.yaml")])
def test_created_validation_matches_its_schema(plan):
    case = CampaignCase(load_scenario(OWN), [], OWN, choose_plan(plan), CATALOG)
    spec = json.loads(json.dumps(build_spec(case, plan_case(case, 7, None, None), 7)))
    assert find_mistakes(spec, expand(load_definitions()["ValidationSpec"]), Positions("spec")) == []
    assert ("custom" in spec) == plan.endswith("yaml")


@pytest.mark.parametrize(("timeout", "expected"), [(None, None), (30, 30)])
def test_time_is_bounded_by_deadlines_or_by_a_person(timeout, expected):
    case = build_case(plan="standard")
    plan = plan_case(case, 1, None, timeout)
    assert plan.minutes == (expected or min(1440, plan.duration.longest // 60 + 10))
    assert f"{len(plan.planned)} trials, 2 at a time, about" in plan.describe()


def test_embedded_scenario_equals_render_output(capsys):
    case = build_case()
    assert run(["render", "--bundle", str(OWN), "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    embedded = build_spec(case, plan_case(case, 1, None, None), 1)["embedded"]
    assert embedded == {"name": printed["metadata"]["name"], "spec": printed["spec"]}


def test_operator_resolves_to_the_same_incident():
    """Its catalogue knows nothing of the fault type that lies beside the scenario."""
    case = build_case()
    plan = plan_case(case, 1, None, None)
    spec = build_spec(case, plan, 1)
    found = resolve_validation(_Environment(), build_validation("hotel-all-errors", spec))
    assert found.sample.digest == plan.sample.digest
    assert [p.purpose for p in found.planned] == [p.purpose for p in plan.planned]


class _Platform:
    name, campaign_clock = "a cluster", "Wall"

    def offers(self, capability, argument, clock):
        return True

    def check_platform(self):
        return ()


class _Environment:
    catalog, platform = CATALOG, _Platform()


def validation_with(finding, position):
    found = structs.replace(finding, position=position)
    return Validation(scenario="s", plan="try", verdict=Verdict.FAIL, headline="", findings=(found,))


def test_report_is_completed_with_places_in_the_file():
    finding = Finding(code="SK321", severity=Severity.ERROR, message="an alert did not fire")
    local = Finding(code="SK607", severity=Severity.WARNING, message="old evidence")
    validation = Validation(
        scenario="s", plan="try", verdict=Verdict.FAIL, headline="", findings=(finding,), data_plane="RealNode"
    )
    case = build_case()._replace(static=[finding, local])
    found = complete_report(Report(validation=validation, kubernetes="v1.33.1"), case)
    assert [f.code for f in found.validation.findings] == ["SK321", "SK607"]
    assert found.validation.findings[0].position.path == str(OWN)
    remote = validation_with(local, Position(path="spec.faultTypes[0].title", line=0, column=0))
    line = Position(path="faults/registry-restarted/fault.yaml", line=3, column=1)
    case = case._replace(static=[structs.replace(local, position=line)])
    assert [f.position for f in complete_report(Report(validation=remote), case).validation.findings] == [line]
    assert (found.validation.data_plane, found.validation.path, found.kubernetes) == ("RealNode", str(OWN), "v1.33.1")


def test_remote_report_of_other_version_is_refused():
    with pytest.raises(InfrastructureError, match="not one of this version"):
        read_remote_report('{"validation": {}}')
    with pytest.raises(InfrastructureError, match="not one of this version"):
        read_remote_report("{")


PASSED = Validation(
    scenario="hotel-all-errors", plan="try", verdict=Verdict.PASS, headline="it holds", data_plane="Kind"
)


class Operator:
    """Called during waits: shows the status, and then the verdict."""

    def __init__(self, cluster, digest="d", stop_after=99):
        self.cluster, self.digest, self.left, self.now = cluster, digest, stop_after, 0.0

    def __call__(self, seconds):
        self.now += seconds
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        for found in self.cluster.list("Validation", MANAGEMENT_NAMESPACE, group="scenariokit.io"):
            name = found["metadata"]["name"]
            accepted = {"type": "Accepted", "status": "True", "reason": "Valid", "message": ""}
            status = {"conditions": [accepted], "digest": self.digest, "startedAt": "2026-01-01T00:00:00Z"}
            if self.now > 4:
                status |= {"verdict": "Pass", "report": f"{name}-report"}
                metadata = {"name": f"{name}-report", "namespace": MANAGEMENT_NAMESPACE}
                data = {REPORT_KEY: dump_report(Report(validation=PASSED, kubernetes="v1.33.1", left_out=("much",)))}
                self.cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
            ref = RemoteValidation(self.cluster, found).reference
            patch = [{"op": "add", "path": "/status", "value": status}]
            self.cluster.patch(ref, patch, "Json", subresource="status")


def open_place(cluster, operator, *, keep=False, timeout=None):
    options = ValidationOptions("try", 1, "default", None, keep=keep, cluster=ClusterChoice("staging", timeout))
    polling = Polling(operator, lambda: operator.now)
    return ClusterPlace(ChosenCluster(cluster, "staging", "https://127.0.0.1:1", "--context staging"), options, polling)


@pytest.fixture
def cluster():
    cluster = FakeCluster()
    cluster.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": MANAGEMENT_NAMESPACE}})
    return cluster


def find_validations(cluster):
    return cluster.list("Validation", MANAGEMENT_NAMESPACE, group="scenariokit.io")


@pytest.mark.parametrize("keep", [False, True])
def test_campaign_is_named_run_reported_and_removed(cluster, capsys, keep):
    place = open_place(cluster, Operator(cluster), keep=keep, timeout=5)
    report = place.run(build_case())
    message = capsys.readouterr().err
    assert "context staging, https://127.0.0.1:1" in message
    assert "Validation hotel-all-errors-" in message
    assert "5 min are less than it takes" in message
    assert "resolves the scenario to another incident" in message
    assert (report.validation.data_plane, report.left_out) == ("Kind", ("much",))
    assert len(find_validations(cluster)) == 1, "the report is not kept yet"
    place.release()
    assert bool(find_validations(cluster)) == keep
    place.release()


def test_interrupted_campaign_continues_and_is_resumed(cluster, capsys):
    with pytest.raises(typer.Abort) as raised:
        open_place(cluster, Operator(cluster, stop_after=1)).run(build_case())
    (stored,) = find_validations(cluster)
    assert stored["metadata"]["name"] in str(raised.value)
    assert "kubectl --context staging" in str(raised.value)
    open_place(cluster, Operator(cluster), timeout=9).run(build_case())
    message = capsys.readouterr().err
    assert "resumed: started 2026-01-01T00:00:00Z" in message
    assert "its budget stays" in message
    assert find_validations(cluster)[0]["metadata"]["uid"] == stored["metadata"]["uid"]


def test_interrupted_run_lists_its_remaining_objects(cluster):
    remote = RemoteValidation(cluster, build_validation("s", {"embedded": {}}))
    for name, status in (("running", {}), ("over", {"outcome": "Held"})):
        metadata = {"name": name, "namespace": MANAGEMENT_NAMESPACE, "labels": {VALIDATION_LABEL: remote.name}}
        trial = {"apiVersion": "scenariokit.io/v1alpha1", "kind": "Trial", "metadata": metadata}
        cluster.put(trial | {"spec": {"namespace": f"shop-{name}"}, "status": status})
    text = explain_interruption(remote, ChosenCluster(cluster, "staging", "", "--context staging"))
    assert "running: running in the namespace shop-running" in text
    assert "shop-over" not in text


def test_failed_removal_is_reported(cluster, capsys):
    place = open_place(cluster, Operator(cluster))
    place.run(build_case())

    def fail(verb, what):
        raise cluster_place.ClusterError("forbidden")

    cluster.before = fail
    place.release()
    assert "stays: forbidden" in capsys.readouterr().err
