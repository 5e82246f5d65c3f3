"""Scenarios resolved to runbooks."""

from pathlib import Path

import msgspec
import pytest
import yaml

from scenario_kit.errors import AuthoringError
from scenario_kit.model import Reference, Runbook, Scenario
from scenario_kit.model.authored.scenario import FaultStart, FaultUse, OnAlert, ScenarioSpec
from scenario_kit.render import build_preview, resolve
from scenario_kit.render.scenarios.runbook import sort_faults

NAMESPACE = "otel-demo-test"
BESIDE = Path(__file__).parents[1] / "fixtures" / "render"
PORT = """
title: t
app: {name: otel-demo, version: 2.2.0, load: {profile: steady, users: 50}}
faults:
- {name: catalog-port, type: port-moved, target: Service/product-catalog}
expect:
  alerts:
  - {name: HighRequestErrorRate, "entity": Deployment/frontend, class: MustFire}
groundTruth:
  rootCauses: [{fault: catalog-port}]
  propagation: [{from: Fault/catalog-port, to: Deployment/frontend, because: refused}]
"""


def spec(**changes):
    return ScenarioSpec.from_json({**yaml.safe_load(PORT), **changes})


@pytest.fixture
def runbook(catalog):
    def make(users=None, namespace=NAMESPACE, **changes):
        return resolve(Scenario(name="s", spec=spec(**changes)), catalog, namespace, users=users, beside=BESIDE)

    return make


def list_names(runbook, use):
    return [p.name for p in runbook.procedures if p.use == use]


def test_runbook_is_complete_and_round_trips(runbook):
    result = runbook()
    assert (result.scenario, result.namespace, result.users) == ("s", NAMESPACE, 50)
    assert len(result.objects) > 40
    assert {r.pack for r in result.rules} == {"default"}
    assert result.windows.still_firing == 330
    assert result.fault("catalog-port").type == "port-moved"
    assert result.ground_truth.root_causes[0].entity == "Service/product-catalog"
    assert result.ground_truth.propagation[0].from_ == "Service/product-catalog"
    assert Runbook.from_json(result.to_json()) == result


def test_fault_supplies_procedures_while_drafting(runbook):
    result = runbook()
    assert list_names(result, "Solution") == ["restore-port"]
    assert list_names(result, "Decoy") == ["restart-it"]
    assert list_names(result, "Fix") == ["catalog-port:0"]
    assert result.procedure("Fix", "catalog-port:0").solution.changes[0].operation.type == "Strategic"


def test_authored_procedures_replace_generated_ones(runbook):
    change = {"scale": {"target": "Deployment/cart", "replicas": 2}}
    result = runbook(
        solutions=[{"name": "mine", "fixes": ["catalog-port"], "changes": [change]}],
        decoys=[{"name": "mine-too", "changes": [change]}],
    )
    assert list_names(result, "Solution") == ["mine"]
    assert list_names(result, "Decoy") == ["mine-too"]
    assert list_names(result, "Fix") == ["catalog-port:0"]


TWO = [
    {"name": "catalog-port", "type": "port-moved", "target": "Service/product-catalog"},
    {"name": "no-cart", "type": "companion", "target": "Deployment/cart"},
]


def test_every_fault_contributes_its_solutions(runbook):
    result = runbook(faults=TWO, groundTruth={"rootCauses": [{"fault": "no-cart"}]})
    assert [p.solution.fixes for p in result.procedures if p.use == "Solution"] == [("catalog-port",), ("no-cart",)]
    assert list_names(result, "Fix") == ["catalog-port:0", "no-cart:0", "no-cart:1"]
    assert result.ground_truth.root_causes[0].entity.startswith("ResourceQuota/set-")


def test_procedures_of_equal_fault_types_have_distinct_names(runbook):
    other = {**TWO[0], "name": "currency-port", "target": "Service/currency", "parameters": {"port": 8080}}
    result = runbook(faults=[TWO[0], other])
    assert list_names(result, "Solution") == ["restore-port", "currency-port-restore-port"]
    assert len(set(list_names(result, "Decoy"))) == len(list_names(result, "Decoy")) >= 1


@pytest.mark.parametrize("outcome", ["Benign", "NoIncident"])
def test_only_an_incident_is_repaired(runbook, outcome):
    result = runbook(groundTruth={"outcome": outcome})
    assert list_names(result, "Solution") == list_names(result, "Decoy") == []


def test_cause_without_fix_is_repaired_by_removal(runbook, catalog, port_fault, monkeypatch):
    entity = {"ref": "{{ target }}"}
    monkeypatch.setattr(
        type(catalog), "fault", lambda *_: msgspec.structs.replace(port_fault, entities=(entity,), solutions=())
    )
    result = runbook()
    assert result.procedure("Fix", "catalog-port:0").solution.changes[0].operation.fault == "catalog-port"
    assert list_names(result, "Solution") == []


def test_repairs_restart_components_that_do_not_recover(runbook):
    down = {"name": "no-kafka", "type": "deployment-scaled-to-zero", "target": "Deployment/kafka"}
    result = runbook(faults=[down], groundTruth={"rootCauses": [{"fault": "no-kafka"}]})
    for procedure in (p for p in result.procedures if p.use in ("Fix", "Solution")):
        restarted = [c.operation.target for c in procedure.solution.changes if c.operation.restarts]
        assert restarted[-1:] == ["Deployment/checkout"], procedure.use
    assert {p.use for p in result.procedures} >= {"Fix", "Solution"}
    assert result.fault("no-kafka").entities[0].fix == result.procedure("Fix", "no-kafka:0").solution.changes[:-1]


def test_distractor_is_not_repaired(runbook):
    for role in ("Distractor", "Trigger"):
        faults = [TWO[0], {**TWO[1], "role": role}]
        assert list_names(runbook(faults=faults), "Solution") == ["restore-port"]


@pytest.mark.parametrize(
    ("same", "changes"),
    [
        (True, {"namespace": "elsewhere"}),
        (True, {"users": 40}),
        (True, {"title": "Another"}),
        (True, {"brief": "Other words."}),
        (False, {"faults": [{**TWO[0], "parameters": {"targetPort": 9998}}]}),
        (False, {"expect": {}}),
        (False, {"app": {"name": "otel-demo", "version": "2.2.0", "load": {"users": 51}}}),
        (False, {"app": {"name": "otel-demo", "version": "2.2.0", "alertPacks": ["itbench"]}}),
        (False, {"groundTruth": {}}),
    ],
)
def test_digest_is_of_the_incident(runbook, same, changes):
    assert (runbook(**changes).digest == runbook().digest) is same


def test_load_reaches_the_objects(runbook):
    generator = next(
        o for o in runbook(users=77).objects if o["metadata"]["name"] == "load-generator" and o["kind"] == "Deployment"
    )
    env = generator["spec"]["template"]["spec"]["containers"][0]["env"]
    assert {"name": "LOCUST_USERS", "value": "77"} in env


@pytest.mark.parametrize(
    ("changes", "codes", "part"),
    [
        ({"app": {"name": "otel-dem", "version": "2.2.0"}}, [], "otel-demo"),
        ({"app": {"name": "otel-demo", "version": "9"}}, [], "2.2.0"),
        (
            {"app": {"name": "otel-demo", "version": "2.2.0", "load": {"profile": "stedy"}}},
            ["SK104"],
            "did you mean `steady`",
        ),
        ({"app": {"name": "otel-demo", "version": "2.2.0", "alertPacks": ["defalt"]}}, [], "default"),
        ({"faults": [{**TWO[0], "type": "port-movd"}]}, ["SK108"], "did you mean `port-moved`"),
        (
            {"faults": [{**TWO[0], "target": "Service/x"}, {**TWO[1], "target": "Deployment/y"}]},
            ["SK110", "SK110"],
            "Service/x",
        ),
        ({"groundTruth": {"rootCauses": [{"fault": "catalog-prt"}]}}, ["SK115"], "did you mean `catalog-port`"),
        ({"faults": [{**TWO[0], "visibility": "Hidden"}]}, ["SK135"], "Visible"),
        ({"faults": [{**TWO[0], "start": {"afterFault": "b"}}]}, ["SK115"], "'b'"),
    ],
)  # fmt: skip
def test_invalid_scenario_is_not_rendered(runbook, changes, codes, part):
    with pytest.raises(AuthoringError) as caught:
        runbook(**changes)
    assert [f.code for f in caught.value.findings] == codes
    reported = caught.value.message + caught.value.fix + "".join(f.fix for f in caught.value.findings)
    assert part in reported


def use(name, after=None, **start):
    return FaultUse(name=name, type="t", target=Reference("Service", "x"), start=FaultStart(after_fault=after, **start))


def test_faults_are_sorted_by_start():
    assert [u.name for u in sort_faults([use("c", "b"), use("b", "a"), use("a")])] == ["a", "b", "c"]
    assert [u.name for u in sort_faults([use("c"), use("a"), use("b")])] == ["c", "a", "b"]
    staged = [
        use("alerted", on_alert=OnAlert(name="A")),
        use("late", after_seconds=60),
        use("third", "late"),
        use("at-once"),
    ]
    assert [u.name for u in sort_faults(staged)] == ["at-once", "late", "third", "alerted"]
    with pytest.raises(AuthoringError, match="wait for each other"):
        sort_faults([use("a", "b"), use("b", "a")])


@pytest.mark.parametrize(
    ("outcome", "role", "stages"),
    [
        ("Benign", "Cause", ["quiet", "inject catalog-port", "alerts", "hold", "pass"]),
        ("NoIncident", "Distractor", ["quiet", "inject catalog-port", "hold"]),
    ],
)
def test_preview_without_required_repair(runbook, outcome, role, stages):
    result = build_preview(runbook(groundTruth={"outcome": outcome}, faults=[{**TWO[0], "role": role}]))
    assert [s.name for s in result.timeline] == stages
    assert ("(Distractor)" in result.timeline[1].what) == (role == "Distractor")


def test_preview_lists_changes_and_times(runbook):
    result = build_preview(runbook())
    assert list(result.changes) == [
        "Fault catalog-port", "Solution restore-port", "Decoy restart-it", "Fix catalog-port:0",
    ]  # fmt: skip
    assert [s.name for s in result.timeline] == [
        "quiet", "inject catalog-port", "alerts", "hold", "decoy restart-it", "solution restore-port",
    ]  # fmt: skip
    for stage, following in zip(result.timeline, result.timeline[1:], strict=False):
        assert stage.starts_at + stage.seconds == following.starts_at
    assert result.timeline[0].seconds == 360
    assert result.timeline[2].what == "HighRequestErrorRate on Deployment/frontend"
