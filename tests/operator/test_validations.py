"""Validations from the API server alone: a kill between any two requests only delays them."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from operators.scenario import validation_input
from operators.scenario.environment import Settings
from operators.scenario.validations import REPORT_KEY, Validations
from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.errors import InfrastructureError
from scenario_kit.load.schema.validation import find_mistakes
from scenario_kit.load.yaml.document import Positions, read_document
from scenario_kit.model import Reference
from scenario_kit.model.results.trial import PURPOSE_LABEL
from scenario_kit.render.scenarios.bundle import bundle_scenario
from scenario_kit.report import Report
from scenario_kit.schema import expand, load_definitions
from scenario_kit.testing import FakeCluster
from scenario_kit.trial import TrialStatus

HERE = "scenario-kit"
GROUP = "scenariokit.io"
API = f"{GROUP}/v1alpha1"
NAME = "cart-scaled-to-zero"
SCENARIO = read_document(find_data_root() / "catalog" / "scenarios" / NAME / "scenario.yaml").data
CATALOG = Catalog()
EPOCH = datetime(2026, 1, 1, tzinfo=UTC).timestamp()


@pytest.fixture(autouse=True, scope="module")
def prepared_once():
    """Rendering is tested elsewhere; here each scenario is rendered once for each load."""
    known, resolve = {}, validation_input.resolve

    def resolved_once(scenario, catalog, namespace, *, users):
        key = (repr(scenario), users)
        if key not in known:
            known[key] = resolve(scenario, catalog, namespace, users=users)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(validation_input, "resolve", resolved_once)
        yield


class Fakes:
    """TrialPlatform of a lab that works, or does not."""

    name = "the lab"
    campaign_clock = "Virtual"
    data_plane = "Twin"
    versions = ("1", "2")
    problems: tuple[str, ...] = ()
    lacks = False

    def offers(self, capability, argument, clock):
        return not self.lacks

    def check_platform(self):
        return ()

    def health(self, needs):
        return self.problems


class World:
    """An API server, its time, and hand-made trials: they end with the outcome of their purpose, or as Held."""

    def __init__(self, **spec):
        self.cluster = FakeCluster()
        self.cluster.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HERE}})
        self.platform, self.now, self.outcomes = Fakes(), EPOCH, {}
        self.apply(SCENARIO | {"metadata": {"name": NAME, "namespace": HERE}})
        if spec:
            self.validate(**spec)
        self.restart()

    def apply(self, obj):
        return self.cluster.apply(obj)

    def validate(self, **spec):
        metadata = {"name": "v", "namespace": HERE}
        self.cluster.create({"apiVersion": API, "kind": "Validation", "metadata": metadata, "spec": spec})

    def restart(self):
        """Another operator process: it remembers nothing."""
        environment = SimpleNamespace(
            cluster=self.cluster, catalog=CATALOG, settings=Settings(), platform=self.platform
        )
        self.operator = Validations(environment, now=lambda: self.now)

    def step(self, times=1):
        for _ in range(times):
            self.operator.reconcile("v", HERE)

    def trials(self):
        return self.cluster.list("Trial", HERE, group=GROUP)

    def end(self, *purposes):
        """The trials of these purposes (or all) end."""
        for trial in self.trials():
            purpose = trial["metadata"]["labels"][PURPOSE_LABEL]
            if (trial.get("status") or {}).get("outcome") or (purposes and purpose not in purposes):
                continue
            status = TrialStatus(outcome=self.outcomes.get(purpose, "Held"), started_at=0.0)
            ref = Reference("Trial", trial["metadata"]["name"], HERE, GROUP)
            patch = [{"op": "add", "path": "/status", "value": status.to_json()}]
            self.cluster.patch(ref, patch, "Json", subresource="status")

    def through(self, steps=60):
        for _ in range(steps):
            self.step()
            if self.status.get("verdict"):
                return
            self.end()
        raise AssertionError(f"no verdict: {self.status}")

    @property
    def status(self):
        status = self.cluster.get(Reference("Validation", "v", HERE, GROUP)).get("status") or {}
        assert find_mistakes(status, expand(load_definitions()["ValidationStatus"]), Positions("status")) == []
        return status

    def condition(self, type):
        return next((c["status"], c["reason"]) for c in self.status["conditions"] if c["type"] == type)

    @property
    def report(self):
        found = self.cluster.get(Reference("ConfigMap", self.status["report"], HERE))
        return Report.from_json(json.loads(found["data"][REPORT_KEY])).validation


def test_stored_scenario_passes():
    world = World(scenario=NAME, plan="Quick")
    world.step()
    assert world.trials() == [], "what it is about comes first"
    assert world.condition("Accepted") == ("True", "Valid")
    world.step()
    assert len(world.trials()) == 2
    assert (world.status["running"], world.status["held"]) == (2, 0)
    assert world.condition("Ready") == ("False", "TrialsRunning")
    world.through()
    assert world.status["verdict"] == "Pass"
    assert world.condition("Succeeded") == ("True", "Passed")
    assert world.condition("Ready") == ("True", "Concluded")
    assert world.status["held"] == world.status["planned"] == len(world.report.trials)
    assert world.status["statistics"]["repeats"] == 1
    assert world.report.next.startswith("kubectl get configmap v-report")
    world.step()
    assert world.trials() == [], "the report has what they showed"


def test_embedded_scenario_needs_no_scenario_object():
    world = World(embedded={"name": NAME, "spec": SCENARIO["spec"]}, plan="Try")
    world.cluster.delete(Reference("Scenario", NAME, HERE, GROUP))
    world.through()
    assert (world.status["verdict"], world.status["scenario"]) == ("Pass", NAME)


def test_changed_fault_types_end_the_campaign():
    """The schema does not cover them; only the operator checks them."""
    bundle = bundle_scenario(find_data_root() / "catalog" / "scenarios" / NAME / "scenario.yaml", CATALOG)
    world = World(embedded={"name": NAME, "spec": bundle["spec"]}, plan="Quick")
    world.step(2)
    assert world.trials()
    (held,) = bundle["spec"]["faultTypes"]
    changed = {**held, "effect": [], "version": held["version"] + 1}
    patch = {"spec": {"embedded": {"spec": {"faultTypes": [changed]}}}, "metadata": {"generation": 2}}
    world.cluster.patch(Reference("Validation", "v", HERE, GROUP), patch)
    world.step(2)
    assert world.status["verdict"] == "NotEvaluated"
    assert "was edited" in world.status["headline"]


def test_stored_former_field_is_reported():
    former = [{"name": "own", "definition": "text"}]
    world = World(embedded={"name": NAME, "spec": SCENARIO["spec"], "faults": former}, plan="Quick")
    world.step(3)
    assert world.condition("Accepted") == ("False", "FormerField")
    assert world.trials() == []
    message = next(c["message"] for c in world.status["conditions"] if c["type"] == "Accepted")
    assert "`embedded.faults` is now `embedded.spec.faultTypes`" in message


@pytest.mark.parametrize(
    ("outcomes", "verdict", "succeeded"),
    [
        ({}, "Pass", ("True", "Passed")),
        ({"control": "Broken"}, "Fail", ("False", "Failed")),
        ({"repeat-3": "Broken"}, "Pass", ("True", "Passed")),
        ({"repeat-3": "Broken", "repeat-7": "Broken"}, "Inconclusive", ("Unknown", "Inconclusive")),
        ({"control": "Infra", "control-again": "Held"}, "Pass", ("True", "Passed")),
        ({"control": "Infra", "control-again": "Infra"}, "NotEvaluated", ("Unknown", "NotEvaluated")),
    ],
)
def test_verdicts(outcomes, verdict, succeeded):
    world = World(scenario=NAME, plan="Standard", parallelism=4)
    world.outcomes = outcomes
    world.through()
    assert (world.status["verdict"], world.condition("Succeeded")) == (verdict, succeeded)


def test_parallelism_is_limited_and_custom_plan_followed():
    custom = {
        "name": "mine",
        "looks": [{"repeats": 2, "accept": 0, "reject": 1}],
        "control": False,
        "interventions": False,
    }
    world = World(scenario=NAME, custom=custom | {"cheats": False, "sham": False, "leaks": False, "parallel": 1})
    world.step(3)
    assert [t["metadata"]["labels"][PURPOSE_LABEL] for t in world.trials()] == ["repeat-1"]
    world.through()
    assert {r.purpose.rstrip("0123456789") for r in world.report.trials} <= {"repeat-", "solution-"}
    assert world.report.plan == "mine"


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"scenario": "no-such"}, "ScenarioNotFound"),
        ({"scenario": NAME, "plan": "Standard", "maxRepeats": 4}, "InvalidPlan"),
        (
            {"scenario": NAME, "custom": {"name": "m", "looks": [{"repeats": 2, "accept": 2, "reject": 3}]}},
            "InvalidPlan",
        ),
    ],
)
def test_impossible_validation_is_refused(spec, reason):
    world = World(**spec)
    world.step(3)
    assert world.condition("Accepted") == ("False", reason)
    assert world.condition("Ready") == ("False", reason)
    assert world.trials() == []


def test_validation_starts_when_its_scenario_appears():
    world = World(scenario=NAME, plan="Try")
    world.cluster.delete(Reference("Scenario", NAME, HERE, GROUP))
    world.step(2)
    assert world.condition("Accepted") == ("False", "ScenarioNotFound")
    world.apply(SCENARIO | {"metadata": {"name": NAME, "namespace": HERE}})
    world.through()
    assert world.status["verdict"] == "Pass"


def test_lint_errors_fail_validation_without_trials():
    spec = SCENARIO["spec"] | {"faults": [SCENARIO["spec"]["faults"][0] | {"type": "no-such-fault"}]}
    world = World(embedded={"name": NAME, "spec": spec})
    world.through()
    assert world.status["verdict"] == "Fail"
    assert "SK108" in {f["code"] for f in world.status["findings"]}
    assert world.trials() == []


def test_missing_platform_capability_is_not_evaluated():
    file = find_data_root() / "catalog" / "scenarios" / "payment-pod-failure" / "scenario.yaml"
    world = World(embedded={"name": "other", "spec": read_document(file).data["spec"]})
    world.platform.lacks = True
    world.through()
    assert (world.status["verdict"], world.trials()) == ("NotEvaluated", [])


def test_unhealthy_infrastructure_blocks_trials_until_budget_ends():
    world = World(scenario=NAME, plan="Quick", maxMinutes=5, parallelism=1)
    world.step(2)
    world.end("repeat-1")
    world.platform.problems = ("prometheus is gone",)
    world.step(3)
    assert len(world.trials()) == 1
    assert world.condition("Ready") == ("False", "InfrastructureTrouble")
    world.now += 301
    world.step()
    assert world.status["verdict"] == "NotEvaluated"
    assert "the budget of 5 min was spent" in world.status["headline"]


def test_cluster_scoped_trials_run_alone():
    beyond = read_document(find_data_root() / "catalog" / "scenarios" / "basket-lost-its-seat" / "scenario.yaml").data[
        "spec"
    ]
    world = World(embedded={"name": "basket-lost-its-seat", "spec": beyond}, plan="Quick", parallelism=4)
    incident = {"metadata": {"name": "somebody-s", "namespace": HERE}, "spec": {}, "apiVersion": API, "kind": "Trial"}
    world.cluster.create(incident)
    world.step(4)
    assert [t["metadata"]["name"] for t in world.trials()] == ["somebody-s"]
    assert world.condition("Ready") == ("False", "Occupied")
    world.cluster.delete(Reference("Trial", "somebody-s", HERE, GROUP))
    world.step()
    (alone,) = world.trials()
    assert world.condition("Ready") == ("False", "TrialsRunning")

    metadata = {"name": "w", "namespace": HERE}
    spec = {"scenario": NAME, "plan": "Quick"}
    world.cluster.create({"apiVersion": API, "kind": "Validation", "metadata": metadata, "spec": spec})
    for _ in range(3):
        world.operator.reconcile("w", HERE)
    assert world.trials() == [alone], "neither does anything begin beside it"
    world.end()
    world.operator.reconcile("w", HERE)
    assert len(world.trials()) == 3


def test_edited_scenario_is_not_judged_by_half():
    world = World(scenario=NAME, plan="Quick")
    world.step(2)
    edited = json.loads(json.dumps(SCENARIO)) | {"metadata": {"name": NAME, "namespace": HERE}}
    edited["spec"]["app"]["load"] = {"profile": "steady", "users": 77}
    world.apply(edited)
    world.step()
    assert world.status["verdict"] == "NotEvaluated"
    assert "edited" in world.status["headline"]


def test_text_edit_does_not_invalidate_trials():
    world = World(scenario=NAME, plan="Try")
    world.step(2)
    edited = json.loads(json.dumps(SCENARIO)) | {"metadata": {"name": NAME, "namespace": HERE}}
    edited["spec"]["title"] = "Another title"
    world.apply(edited)
    world.through()
    assert world.status["verdict"] == "Pass"


def test_deleted_validation_deletes_trials_and_report():
    world = World(scenario=NAME, plan="Quick")
    world.step(3)
    assert not world.operator.release("v")
    assert world.operator.release("v")
    world = World(scenario=NAME, plan="Try")
    world.through()
    world.step()
    assert world.operator.release("v")
    assert world.cluster.get(Reference("ConfigMap", "v-report", HERE)) is None


def test_deleted_trial_is_recreated():
    world = World(scenario=NAME, plan="Quick", parallelism=8)
    world.step(2)
    world.end()
    world.cluster.delete(Reference("Trial", world.trials()[0]["metadata"]["name"], HERE, GROUP))
    world.step()
    assert not world.status.get("verdict")
    world.through()
    assert world.status["verdict"] == "Pass"


def test_namespace_readable_by_solvers_is_refused():
    world = World()
    metadata = {"name": "v", "namespace": "default"}
    world.cluster.create({"apiVersion": API, "kind": "Validation", "metadata": metadata, "spec": {"scenario": NAME}})
    world.operator.reconcile("v", "default")
    status = world.cluster.get(Reference("Validation", "v", "default", GROUP))["status"]
    assert [c["reason"] for c in status["conditions"] if c["type"] == "Accepted"] == ["NamespaceVisible"]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sets(st.integers(1, 90), max_size=12), st.sampled_from(["Held", "Broken"]))
def test_verdict_survives_a_kill_between_any_two_requests(kills, control):
    """Each kill ends the process between two requests; the next one starts with no memory."""
    world = World(scenario=NAME, plan="Quick")
    world.outcomes = {"control": control}
    count = 0

    def before(verb, what):
        nonlocal count
        count += 1
        if count in kills:
            raise InfrastructureError(f"killed at request {count}, {verb} {what}")

    for _ in range(60):
        world.cluster.before = before
        try:
            world.step()
        except InfrastructureError:
            world.restart()
        world.cluster.before = lambda verb, what: None
        if world.status.get("verdict") and not world.trials():
            break
        if not world.status.get("verdict"):
            world.end()
    assert world.status["verdict"] == {"Held": "Pass", "Broken": "Fail"}[control]
    assert world.trials() == []
    assert len({t["name"] for t in world.status["trials"]}) == world.status["planned"]
