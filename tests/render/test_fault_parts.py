"""Preconditions, variables, named effect checks and restorations of faults."""

import pytest

from scenario_kit.errors import AuthoringError
from scenario_kit.model import FaultType, Reference
from scenario_kit.model.authored.effect_check import EFFECT_CHECKS
from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.render import render_fault
from scenario_kit.render.faults.inverse_changes import (
    build_inverse_changes,
    reverse_json,
    reverse_merge,
    reverse_strategic,
)
from scenario_kit.render.objects.merging import merge, merge_strategic

NAMESPACE = "otel-demo-test"
SIMPLE = {
    "name": "simple",
    "version": 1,
    "title": "Simple",
    "description": "Simple.",
    "targets": ["Deployment", "Service"],
    "parameters": {"properties": {"replicas": {"type": "integer", "default": 0}}},
    "changes": [{"patch": {"type": "Strategic", "patch": {"spec": {"replicas": "{{ parameters.replicas }}"}}}}],
    "effect": [{"object": {"path": "spec.replicas", "equals": 0}}],
    "entities": [{"field": "spec.replicas", "fix": [{"restore": {}}]}],
    "solutions": [{"name": "restore", "description": "Restore", "changes": [{"restore": {}}]}],
}
CHAOS = {
    **SIMPLE,
    "changes": [
        {
            "chaos": {
                "apiVersion": "chaos-mesh.org/v1alpha1",
                "kind": "PodChaos",
                "metadata": {"name": "{{ neutral('pod') }}"},
                "spec": {"action": "pod-kill", "mode": "all", "selector": "{{ target.selector }}"},
            }
        }
    ],
    "effect": [{"chaosInjected": {}}],
    "entities": [{"ref": "{{ created }}", "generated": True, "fix": [{"restore": {}}]}, {"role": "Victim"}],
}


@pytest.fixture
def make(app, objects):
    def render(fault=SIMPLE, target="Deployment/cart", parameters=None, **parts):
        fault_type = FaultType.from_json({**fault, **parts})
        use = FaultUse(name="a", type="simple", target=Reference.parse(target), parameters=parameters or {})
        return render_fault(fault_type, use, app, objects, NAMESPACE, "s", load={})

    return render


def fail(make, **parts):
    with pytest.raises(AuthoringError) as caught:
        make(**parts)
    return caught.value.findings[0]


def test_parts_default_to_the_target(make):
    fault = make(decoys=[{"name": "restart", "description": "Restart", "changes": [{"restart": {}}]}])

    assert fault.changes[0].to_json()["patch"]["target"] == "Deployment/cart"
    assert fault.effect[0].object.ref == "Deployment/cart"
    assert fault.entities[0].ref == "Deployment/cart"
    assert fault.decoys[0].changes[0].to_json() == {"restart": {"target": "Deployment/cart"}}


def test_restoration_restores_former_values(make):
    desired = {
        "patch": {"target": "Deployment/cart", "type": "Strategic", "patch": {"spec": {"replicas": 1}}},
    }
    fault = make()

    assert [c.to_json() for c in fault.entities[0].fix] == [desired]
    assert [c.to_json() for c in fault.solutions[0].changes] == [desired]


def test_restoration_deletes_created_objects(make):
    fault = make(CHAOS)
    ref = fault.entities[0].ref

    assert ref.startswith("PodChaos.chaos-mesh.org/pod-")
    assert fault.effect[0].object.ref == ref
    assert [c.to_json() for c in fault.entities[0].fix] == [{"delete": {"target": ref}}]
    assert fault.entities[1].ref == "Deployment/cart"


def test_precondition_reports_its_message_and_fix(make):
    finding = fail(
        make,
        preconditions=[
            {
                "condition": "{{ parameters.replicas < target.replicas }}",
                "message": "it has {{ parameters.replicas }} replicas already",
                "fix": "fewer replicas",
            }
        ],
        parameters={"replicas": 1},
    )

    assert (finding.code, finding.observed, finding.fix) == ("SK304", "target Deployment/cart", "fewer replicas")
    assert finding.message == "fault 'a': it has 1 replicas already"


def test_first_failed_precondition_is_reported(make):
    parts = {"preconditions": [{"condition": f"{{{{ {n} > 2 }}}}", "message": f"{n}"} for n in (3, 2, 1)]}

    assert fail(make, **parts).message == "fault 'a': 2"


def test_target_preconditions_are_checked_before_defaults(make):
    parameters = {"properties": {"first": {"type": "integer", "default": "{{ refuse('too late') }}"}}}
    about_target = {"condition": "{{ listening }}", "message": "it listens on no port"}
    variables = {"listening": "{{ [] }}"}

    found = fail(make, fault={**SIMPLE, "parameters": parameters}, preconditions=[about_target], variables=variables)

    assert found.message == "fault 'a': it listens on no port"


def test_condition_on_parameters_includes_variables(make):
    about_parameters = {"condition": "{{ fewer }}", "message": "{{ parameters.replicas }} are not fewer"}
    variables = {"fewer": "{{ parameters.replicas < 0 }}"}

    assert fail(make, preconditions=[about_parameters], variables=variables).message == "fault 'a': 0 are not fewer"


def test_variables_are_evaluated_lazily(make):
    fault = make(variables={"none": "{{ parameters.replicas + 0 }}", "unused": "{{ refuse('never') }}"})
    assert fault.changes

    changes = [{"patch": {"type": "Strategic", "patch": {"spec": {"replicas": "{{ fewer }}"}}}}]
    fault = make(changes=changes, variables={"fewer": "{{ one - 1 }}", "one": "{{ target.replicas }}"})
    assert fault.changes[0].to_json()["patch"]["patch"] == {"spec": {"replicas": 0}}


def test_circular_variables_are_refused(make):
    changes = [{"scale": {"replicas": "{{ a }}"}}]
    finding = fail(make, changes=changes, variables={"a": "{{ b }}", "b": "{{ a }}"})

    assert (finding.code, finding.observed) == ("SK123", "a → b → a")


CHECKS = {
    "chaosInjected": ({}, 'PodChaos.chaos-mesh.org/pod-'),
    "deleted": ({}, "'exists': False"),
    "podsPending": ({}, 'kube_pod_status_phase{phase="Pending", pod=~"cart-[a-z0-9]+-[a-z0-9]+"}'),
    "podsReady": ({"atMost": 0, "countMissing": True}, "or vector(0)', 'is': 'Equal', 'value': 0"),
    "containersRunning": ({"container": "cart"}, 'kube_pod_container_status_running{container="cart", pod=~"cart-'),
    "containersWaiting": ({"reasons": ["Error"], "init": True}, 'init_container_status_waiting_reason{reason="Error"'),
    "containersTerminated": ({"reasons": ["OOMKilled", "Error"]}, 'reason=~"OOMKilled|Error"'),
    "containersRestarted": ({"container": "cart", "atLeast": 3}, "'is': 'AtLeast', 'value': 3"),
    "requestsFail": ({}, 'service_name=~"cart|frontend|checkout"'),
    "requestsStop": ({}, 'service_name="cart"}[1m])) == bool 0) or (count('),
    "targetFails": ({"of": "Deployment/ad"}, 'service_name="ad"'),
    "latencyRises": ({"byMilliseconds": 50, "whose": "Dependants"}, "'is': 'GreaterThan', 'value': 50"),
    "requestsSlowOrFail": ({"byMilliseconds": 50}, ">= bool 50 or vector(0))"),
    "requestsSucceed": ({}, 'status_code!="STATUS_CODE_ERROR"'),
    "requestsDrop": ({"component": "frontend"}, "'is': 'AtMost', 'value': 50, 'scale': 100"),
}  # fmt: skip


def test_pods_that_are_not_ready_are_more_than_a_rollout(make):
    check = {"podsReady": {"atMost": 0}, "withinSeconds": 9, "describe": "x"}
    query = make(CHAOS, effect=[check]).effect[0].query
    assert query.expr.startswith("max_over_time((sum(kube_pod_status_ready{")
    assert query.expr.endswith("))[90s:15s])")


@pytest.mark.parametrize("name", sorted(EFFECT_CHECKS))
def test_named_checks_are_plain_checks_when_rendered(make, name):
    parameters, part = CHECKS[name]
    fault = make(CHAOS, effect=[{name: parameters, "withinSeconds": 9, "describe": "x"}])

    rendered = fault.effect[0].to_json()
    assert (rendered["withinSeconds"], rendered["describe"]) == (9, "x")
    assert rendered.keys() - {"withinSeconds", "describe"} <= {"query", "object"}
    assert part in str(rendered)


@pytest.mark.parametrize(
    ("check", "code"),
    [
        ({"podsPending": {"off": "Deployment/cart"}}, "SK123"),
        ({"podsReady": {}}, "SK123"),
        ({"podsReady": {"atLeast": 1, "atMost": 1}}, "SK123"),
        ({"podsPending": {"of": "ConfigMap/flagd-config"}}, "SK120"),
        ({"chaosInjected": {}}, "SK123"),
    ],
)
def test_checks_with_wrong_parameters_are_refused(make, check, code):
    assert fail(make, effect=[check]).code == code


CONTAINER = {"name": "a", "env": [{"name": "X", "value": "1"}], "resources": {"limits": {"cpu": "1"}}}
OBJECT = {
    "metadata": {"labels": {"l": "1"}},
    "spec": {"replicas": 2, "strategy": {"type": "Recreate"}, "template": {"spec": {"containers": [CONTAINER]}}},
}


def pod(**fields):
    return {"spec": {"template": {"spec": fields}}}


@pytest.mark.parametrize(
    "patch",
    [
        {"spec": {"replicas": 0}},
        {"spec": {"paused": True}},
        {"metadata": {"labels": {"l": None, "m": "2"}}},
        pod(containers=[{"name": "a", "env": [{"name": "X", "value": "2"}]}]),
        pod(containers=[{"name": "a", "env": [{"name": "X", "$patch": "delete"}]}]),
        pod(containers=[{"name": "a", "resources": {"$patch": "replace", "limits": {"memory": "1Mi"}}}]),
        pod(containers=[{"name": "a", "livenessProbe": {"httpGet": {"port": 1}}}]),
        pod(initContainers=[{"name": "b"}], volumes=[{"name": "v", "emptyDir": {}}]),
        pod(containers=[{"name": "a", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]),
        pod(nodeSelector={"k": "v"}),
        {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}},
    ],
)
def test_reversed_strategic_patch_restores_the_object(patch):
    broken = merge_strategic(OBJECT, patch)
    mended = merge_strategic(broken, reverse_strategic(patch, OBJECT))

    assert broken != OBJECT
    assert prune(mended) == prune(OBJECT)


def prune(value):
    """Without empty mappings and lists, which mean the same as none."""
    if isinstance(value, dict):
        return {k: v for k, part in value.items() if (v := prune(part)) not in ({}, [])}
    return [prune(part) for part in value] if isinstance(value, list) else value


def test_reversed_merge_patch_restores_the_object():
    patch = {"spec": {"replicas": 0, "paused": True, "strategy": None}}

    assert merge(merge(OBJECT, patch), reverse_merge(patch, OBJECT)) == OBJECT


def test_json_patch_is_reversed_in_reverse_order():
    patch = [
        {"op": "replace", "path": "/spec/replicas", "value": 0},
        {"op": "add", "path": "/spec/paused", "value": True},
        {"op": "remove", "path": "/metadata/labels/l"},
    ]

    assert reverse_json(patch, OBJECT) == [
        {"op": "add", "path": "/metadata/labels/l", "value": "1"},
        {"op": "remove", "path": "/spec/paused"},
        {"op": "replace", "path": "/spec/replicas", "value": 2},
    ]


def test_restoration_may_be_limited_to_an_object_or_field():
    patch = {"replicas": 0, "template": {"spec": {"nodeSelector": {"k": "v"}}}}
    changes = [
        {"patch": {"target": "Deployment/a", "type": "Strategic", "patch": {"spec": patch}}},
        {"create": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}},
        {"restart": {"target": "Deployment/a"}},
    ]

    def restore(*of):
        return build_inverse_changes(changes, lambda _: OBJECT, *of)

    assert restore(["ConfigMap/c"]) == [{"delete": {"target": "ConfigMap/c"}}]
    assert [next(iter(change)) for change in restore()] == ["patch", "delete"]
    only = restore(["Deployment/a"], "spec.template.spec.nodeSelector")
    assert only[0]["patch"]["patch"] == pod(nodeSelector={"k": None})


@pytest.mark.parametrize(
    "change",
    [
        {"run": {"client": "psql", "command": []}},
        {"setFlag": {"flag": "f", "variant": "on"}},
        {
            "patch": {
                "target": "Deployment/a",
                "type": "Json",
                "patch": [{"op": "add", "path": "/spec/a/-", "value": 1}],
            }
        },
        {"patch": {"target": "Namespace/a", "type": "Merge", "patch": {}}},
    ],
)
def test_change_without_inverse_is_refused(change):
    objects = {"Deployment/a": OBJECT}
    with pytest.raises(AuthoringError):
        build_inverse_changes([change], objects.get)


def test_reserved_variable_name_is_refused(make):
    assert fail(make, variables={"ports": "{{ [] }}"}).code == "SK123"


def test_for_each_repeats_the_part(make):
    decoy = {"forEach": "{{ ['Deployment/ad', 'Deployment/cart'] }}", "restart": {"target": "{{ item }}"}}
    fault = make(decoys=[{"name": "a", "description": "A", "changes": [decoy]}])

    assert [c.target for c in fault.decoys[0].changes] == ["Deployment/ad", "Deployment/cart"]


def test_for_each_requires_a_list(make):
    assert fail(make, changes=[{"forEach": "{{ 1 }}", "restart": {}}]).code == "SK123"


def test_parameter_default_may_be_looked_up(make):
    schema = {"properties": {"container": {"type": "string", "x-lookup": "Container"}}}
    changes = [{"restart": {}}, {"scale": {"replicas": "{{ 0 if parameters.container == 'cart' else 1 }}"}}]

    assert make({**SIMPLE, "parameters": schema}, changes=changes).changes[1].to_json()["scale"]["replicas"] == 0
