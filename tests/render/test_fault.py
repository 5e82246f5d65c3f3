"""Faults rendered for a target."""

import msgspec
import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Reference
from scenario_kit.model.authored.scenario import FaultStart, FaultUse, Rollout
from scenario_kit.render import render_app, render_fault

NAMESPACE = "otel-demo-test"


@pytest.fixture
def rendered(app, objects, port_fault):
    def render(scenario="s", **use):
        given = {"name": "catalog-port", "type": "port-moved", "target": "Service/product-catalog", **use}
        use = FaultUse.from_json(given)
        return render_fault(port_fault, use, app, objects, NAMESPACE, scenario, load={"users": 50, "profile": "steady"})

    return render


def test_fault_is_rendered_for_its_target(rendered):
    result = rendered()
    assert (result.name, result.type, result.version) == ("catalog-port", "port-moved", 3)
    assert [c.operation.keyword for c in result.changes] == ["patch"]
    assert result.changes[0].operation.target == "Service/product-catalog"
    assert result.changes[0].operation.patch == [{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 9999}]
    assert result.effect[0].object.equals == 9999
    assert 'service_name=~"frontend|checkout|recommendation"' in result.effect[1].query.expr
    assert result.undone[0].object.not_equals == 9999
    assert [e.ref for e in result.causes] == ["Service/product-catalog"]
    ports = result.causes[0].fix[0].operation.patch["spec"]["ports"]
    assert ports == [{"port": 8080, "targetPort": 8080}]
    assert [(s.name, s.fixes, s.description) for s in result.solutions] == [
        ("restore-port", ("catalog-port",), "Point Service/product-catalog back")
    ]
    assert result.decoys[0].changes[0].operation.target == "Deployment/product-catalog"
    assert result.callers == tuple(
        f"Deployment/{name}" for name in ("frontend", "checkout", "recommendation", "product-reviews")
    )


def test_change_may_depend_on_parameters(rendered):
    created = rendered(parameters={"policy": True}).changes[1].operation.manifest
    assert created["data"] == {
        "selector": '{"opentelemetry.io/name": "product-catalog"}',
        "env": "4",
        "entry": f"frontend-proxy in {NAMESPACE} for 50 by catalog-port",
    }
    name = created["metadata"]["name"]
    assert name.startswith("settings-")
    assert len(name) <= 20
    assert rendered(parameters={"policy": True}).changes[1].operation.manifest["metadata"]["name"] == name
    assert rendered("other", parameters={"policy": True}).changes[1].operation.manifest["metadata"]["name"] != name


def test_scenario_may_override_rollout(rendered):
    assert rendered().rollout == Rollout(reconnect="Callers")
    assert rendered(rollout=Rollout(drop_old=True)).rollout == Rollout(drop_old=True)
    assert rendered(start=FaultStart(after_seconds=90)).start.after_seconds == 90


def test_load_generator_is_not_restarted_as_a_caller(rendered):
    assert rendered(target="Service/frontend-proxy").callers == ()


def test_digest_depends_on_changes_only(rendered):
    assert rendered().digest == rendered("other").digest
    assert rendered().digest == rendered(parameters={"targetPort": 9999}).digest
    assert rendered().digest != rendered(parameters={"targetPort": 9998}).digest
    assert rendered().digest != rendered(target="Service/cart").digest


def test_text_does_not_change_the_digest(app, objects, port_fault):
    use = FaultUse(name="a", type="port-moved", target=Reference("Service", "cart"))
    reported = msgspec.structs.replace(port_fault, title="Another title", description="x")
    raised = msgspec.structs.replace(port_fault, version=4)
    one, two, three = (
        render_fault(t, use, app, objects, NAMESPACE, "s", load={}) for t in (port_fault, reported, raised)
    )
    assert one.digest == two.digest != three.digest


@pytest.mark.parametrize(
    ("use", "codes", "part"),
    [
        ({"parameters": {"targetPort": 8080}}, ["SK304"], "the container listens on 8080"),
        ({"parameters": {"targetPort": 0}}, ["SK109"], "less than the minimum"),
        ({"parameters": {"targetPort": "9999"}}, ["SK109"], "is not of type 'integer'"),
        ({"parameters": {"targetPort": "9999"}}, ["SK109"], "write 9999"),
        ({"parameters": {"targetPort": None}}, ["SK109"], "null is not of type 'integer'"),
        ({"parameters": {"targetPort": 70000}}, ["SK109"], "write an integer from 1 to 65535: Where it points"),
        ({"parameters": {"targtPort": 1}}, ["SK109"], "did you mean `targetPort`"),
        ({"parameters": {"targtPort": 1, "port": 0, "policy": 3}}, ["SK109"] * 3, "'policy'"),
        ({"parameters": {"port": 81}}, ["SK120"], "no item with port 81"),
        ({"target": "Service/product-catlog"}, ["SK110"], "did you mean `Service/product-catalog`"),
        ({"target": "Deployment/cart"}, ["SK110"], "target: Service/cart"),
    ],
)
def test_mistakes_are_findings(rendered, use, codes, part):
    with pytest.raises(AuthoringError) as caught:
        rendered(**use)
    assert [f.code for f in caught.value.findings] == codes
    assert "catalog-port" in caught.value.message or part in caught.value.message
    reported = caught.value.message + "".join(f.fix for f in caught.value.findings)
    assert part in reported


@pytest.mark.parametrize(
    ("part", "value", "code"),
    [
        ("changes", ({"patch": {"target": "{{ target }}", "type": "Yaml", "patch": []}},), "SK123"),
        ("changes", ({"patch": {"target": "{{ tarrget }}", "type": "Json", "patch": []}},), "SK123"),
        ("changes", ({"when": "{{ false }}", "delete": {"target": "Service/cart"}},), "SK304"),
        ("changes", ({"delete": {"target": "{{ object('Service/crt').metadata.name }}"}},), "SK110"),
        ("changes", ({"delete": {"target": "{{ container(workload, 'x').name }}"}},), "SK120"),
        ("changes", ({"delete": {"target": "{{ callers('crt') }}"}},), "SK120"),
        ("changes", ({"delete": {"target": "{{ component_of('ConfigMap/flagd-config') }}"}},), "SK120"),
        ("changes", ({"delete": {"target": "{{ pod_selector('ConfigMap/flagd-config') }}"}},), "SK120"),
        ("effect", ({"when": "{{ false }}", "endpoints": {"service": "{{ target }}", "atMost": 0}},), "SK304"),
        ("entities", ({"when": "{{ false }}", "ref": "{{ target }}"},), "SK304"),
        ("entities", ({"ref": "product catalog"},), "SK104"),
        ("entities", ({"ref": "{{ target }}"}, {"ref": "ConfigMap/other"}), "SK123"),
        ("effect", ({"object": {"ref": "{{ target }}", "equal": 1}},), "SK123"),
    ],
)
def test_mistakes_of_the_fault_itself(app, objects, port_fault, part, value, code):
    broken = msgspec.structs.replace(port_fault, **{part: value})
    use = FaultUse(name="catalog-port", type="port-moved", target=Reference("Service", "product-catalog"))
    with pytest.raises(AuthoringError) as caught:
        render_fault(broken, use, app, objects, NAMESPACE, "s", load={"users": 1})
    assert [f.code for f in caught.value.findings] == [code]


@pytest.mark.parametrize(("policy", "entities", "effect"), [(False, 1, 2), (True, 2, 3)])
def test_inapplicable_parts_are_left_out(app, objects, port_fault, policy, entities, effect):
    """An object that is not created is no entity, and has no checks or repair."""
    when = "{{ parameters.policy }}"
    companion = {"when": when, "ref": "ConfigMap/{{ neutral('settings') }}", "role": "Artefact"}
    proof = {"when": when, "object": {"ref": "ConfigMap/{{ neutral('settings') }}", "exists": True}}
    remove = {"when": when, "delete": {"target": "ConfigMap/{{ neutral('settings') }}"}}
    cause = {**port_fault.entities[0], "fix": [*port_fault.entities[0]["fix"], remove]}
    fault_type = msgspec.structs.replace(
        port_fault,
        entities=(cause, companion),
        effect=(*port_fault.effect, proof),
        undone=(*port_fault.undone, {**proof, "object": {**proof["object"], "exists": False}}),
        solutions=(*port_fault.solutions, {"when": when, "name": "tidy-up", "changes": [remove]}),
        decoys=({**port_fault.decoys[0], "when": when},),
    )
    use = FaultUse(
        name="catalog-port",
        type="port-moved",
        target=Reference("Service", "product-catalog"),
        parameters={"policy": policy},
    )
    result = render_fault(fault_type, use, app, objects, NAMESPACE, "s", load={"users": 1})
    assert (len(result.entities), len(result.effect), len(result.undone)) == (entities, effect, entities)
    assert len(result.causes[0].fix) == len(result.solutions) == entities
    assert len(result.decoys) == int(policy)


@pytest.mark.parametrize(("policy", "join"), [(False, "Independent"), (True, "Conjunctive")])
def test_join_applies_to_several_causes(app, objects, port_fault, policy, join):
    """The join is Independent for a single cause, regardless of parameters."""
    companion = {**port_fault.entities[0], "when": "{{ parameters.policy }}"}
    fault_type = msgspec.structs.replace(
        port_fault, entities=(port_fault.entities[0], companion), causes_join="Conjunctive"
    )
    use = FaultUse(
        name="catalog-port",
        type="port-moved",
        target=Reference("Service", "product-catalog"),
        parameters={"policy": policy},
    )
    assert render_fault(fault_type, use, app, objects, NAMESPACE, "s", load={"users": 1}).causes_join == join


def test_unobservable_fault_is_refused():
    catalog = Catalog()
    hotel = catalog.app("hotel-reservation", catalog.versions("hotel-reservation")[0])
    objects = render_app(hotel, {}, 50, "hotel", templates=catalog.templates(hotel.name))

    def render_for(fault_type, target):
        return render_fault(
            catalog.fault(fault_type),
            FaultUse(name="main", type=fault_type, target=Reference.parse(target)),
            hotel,
            objects,
            "hotel",
            "s",
        )

    assert render_for("deployment-scaled-to-zero", "Deployment/user").effect
    with pytest.raises(AuthoringError, match="no telemetry would show its effect at Deployment/otel-collector"):
        render_for("deployment-scaled-to-zero", "Deployment/otel-collector")
    with pytest.raises(AuthoringError, match="work without being ready"):
        render_for("rollout-strategy-unsafe", "Deployment/rate")
    assert render_for("rollout-strategy-unsafe", "Deployment/frontend").effect


@pytest.mark.parametrize("fault_type", ["host-port-conflict", "sidecar-port-conflict"])
def test_udp_ports_are_not_used_for_tcp_conflicts(catalog, app, objects, fault_type):
    result = render_fault(
        catalog.fault(fault_type),
        FaultUse(name="main", type=fault_type, target=Reference("Deployment", "otel-collector")),
        app,
        objects,
        NAMESPACE,
        "s",
    )
    collector = next(o for o in objects if (o["kind"], o["metadata"]["name"]) == ("Deployment", "otel-collector"))
    declared = collector["spec"]["template"]["spec"]["containers"][0]["ports"]
    assert declared[0]["protocol"] == "UDP"
    assert declared[0]["containerPort"] not in _numbers([change.to_json() for change in result.changes])
    first = next(p["containerPort"] for p in declared if p.get("protocol", "TCP") == "TCP")
    assert first in _numbers([change.to_json() for change in result.changes])


def _numbers(node):
    """Every number of a tree."""
    if isinstance(node, dict | list | tuple):
        return {n for each in (node.values() if isinstance(node, dict) else node) for n in _numbers(each)}
    return {node} if isinstance(node, int) else set()


@pytest.mark.parametrize(("against", "anew"), [("Itself", True), ("Companion", False)])
def test_mutually_exclusive_pods_end_before_successors_start(catalog, app, objects, against, anew):
    kind = "pod-anti-affinity-unsatisfiable"
    use = FaultUse(name="main", type=kind, target=Reference("Deployment", "ad"), parameters={"against": against})
    result = render_fault(catalog.fault(kind), use, app, objects, NAMESPACE, "s")
    named = {s.name: s.changes for s in result.solutions}
    for changes in (result.causes[0].fix, named["restore-affinity"], named["prefer-instead"]):
        assert [c.operation.drop_old for c in changes if c.operation.restarts] == ([True] if anew else [])
