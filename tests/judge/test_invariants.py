"""Invariants of a repair: pods, probes, limits, ports, and the offered load."""

import json

import pytest

from scenario_kit.judge.repair import invariants
from scenario_kit.judge.repair.invariants import Guarded
from scenario_kit.model import App


def build_app(**more):
    components = [
        {"name": "locust", "workload": "Deployment/locust", "role": "Load"},
        {"name": "cart", "workload": "Deployment/cart"},
    ]
    return App.from_json(
        {"name": "a", "version": "1", "namespace": "a", "entry": "cart", "components": components} | more
    )


APP = build_app()


def container(name="main", **more):
    return {"name": name, **more}


def workload(kind="Deployment", name="cart", containers=None, labels=None, status=None, **spec):
    return {
        "kind": kind,
        "metadata": {"name": name, "namespace": "a"},
        "spec": {
            **spec,
            "template": {
                "metadata": {"labels": labels or {}},
                "spec": {"containers": [container()] if containers is None else containers},
            },
        },
        "status": {"readyReplicas": 9} if status is None else status,
    }


def find_broken_invariants(before, after, scalers=(), app=APP):
    before, after = ([o] if isinstance(o, dict) else o for o in (before, after))
    return invariants.find_violations(invariants.take_baseline(before, app), after, app, scalers)


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
@pytest.mark.parametrize(
    ("replicas", "ready", "problems"),
    [
        (3, 3, []),
        (5, 3, []),
        (3, 4, []),
        (3, 1, ["has 1 ready of 3 pods"]),
        (3, 2, ["has 2 ready of 3 pods"]),
        (3, 0, ["has 0 ready of 3 pods"]),
        (3, None, ["has 0 ready of 3 pods"]),
        (2, 2, ["is scaled to 2, its baseline is 3"]),
        (0, 0, ["is scaled to 0, its baseline is 3"]),
        (None, 3, ["is scaled to 1, its baseline is 3"]),
    ],
)
def test_ready_replicas_must_reach_their_baseline(kind, replicas, ready, problems):
    spec = {} if replicas is None else {"replicas": replicas}
    live = workload(kind, status={} if ready is None else {"readyReplicas": ready}, **spec)
    assert find_broken_invariants(workload(kind, replicas=3), live) == [f"{kind}/cart {p}" for p in problems]


@pytest.mark.parametrize(
    ("kind", "policy", "current", "waits"),
    [
        ("StatefulSet", {}, "a", True),
        ("StatefulSet", {"podManagementPolicy": "OrderedReady"}, "a", True),
        ("StatefulSet", {"podManagementPolicy": "Parallel"}, "a", False),
        ("StatefulSet", {}, "b", False),
        ("Deployment", {}, "a", False),
    ],
)
def test_stateful_set_that_keeps_broken_pods_is_explained(kind, policy, current, waits):
    status = {"readyReplicas": 0, "currentRevision": current, "updateRevision": "b"}
    (problem,) = find_broken_invariants(workload(kind, replicas=1), workload(kind, status=status, replicas=1, **policy))
    assert problem.startswith(f"{kind}/cart has 0 ready of 1 pods")
    assert ("waits for those of a former template to be ready" in problem) is waits


@pytest.mark.parametrize(("ready", "problems"), [(1, []), (0, ["Deployment/cart has 0 ready of 1 pods"])])
def test_missing_replicas_default_to_one(ready, problems):
    live = workload(status={"readyReplicas": ready})
    assert find_broken_invariants(workload(), live) == problems


@pytest.mark.parametrize(
    ("status", "problems"),
    [
        ({"desiredNumberScheduled": 3, "numberReady": 3}, []),
        ({"desiredNumberScheduled": 3, "numberReady": 4}, []),
        ({"desiredNumberScheduled": 3, "numberReady": 2}, ["DaemonSet/agent lacks 1 ready pods"]),
        ({"desiredNumberScheduled": 3, "numberReady": 0}, ["DaemonSet/agent lacks 3 ready pods"]),
        ({"desiredNumberScheduled": 2}, ["DaemonSet/agent lacks 2 ready pods"]),
        ({"desiredNumberScheduled": 1, "numberReady": 0}, ["DaemonSet/agent lacks 1 ready pods"]),
        ({"numberReady": 0}, []),
        ({}, []),
    ],
)
def test_daemon_set_is_ready_on_all_eligible_nodes(status, problems):
    assert (
        find_broken_invariants(workload("DaemonSet", "agent"), workload("DaemonSet", "agent", status=status))
        == problems
    )


@pytest.mark.parametrize(
    ("kind", "status"), [("DaemonSet", {"desiredNumberScheduled": 2, "numberReady": 0}), ("Deployment", {})]
)
def test_zero_replicas_need_no_ready_pod(kind, status):
    live = workload(kind, replicas=0, status=status)
    assert invariants.find_violations([Guarded(kind=kind, name="cart", replicas=0)], [live], APP) == []


@pytest.mark.parametrize(
    ("target", "minimum", "problems"),
    [
        (("Deployment", "cart"), {"minReplicas": 2}, []),
        (("Deployment", "cart"), {"minReplicas": 3}, ["Deployment/cart is scaled to 2, its baseline is 3"]),
        (("Deployment", "cart"), {}, []),
        (("Deployment", "other"), {"minReplicas": 1}, ["Deployment/cart is scaled to 2, its baseline is 4"]),
        (("StatefulSet", "cart"), {"minReplicas": 1}, ["Deployment/cart is scaled to 2, its baseline is 4"]),
    ],
)
def test_own_autoscaler_minimum_suffices(target, minimum, problems):
    scaler = {"spec": {"scaleTargetRef": {"kind": target[0], "name": target[1]}, **minimum}}
    live = workload(replicas=2, status={"readyReplicas": 2})
    assert find_broken_invariants(workload(replicas=4), live, [scaler]) == problems


@pytest.mark.parametrize("minimum", [{"minReplicas": 1}, {}])
def test_autoscaled_workload_needs_one_ready_pod(minimum):
    scaler = {"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "cart"}, **minimum}}
    live = workload(replicas=1, status={"readyReplicas": 0})
    assert find_broken_invariants(workload(replicas=4), live, [scaler]) == ["Deployment/cart has 0 ready of 1 pods"]


@pytest.mark.parametrize("probe", ["readinessProbe", "livenessProbe", "startupProbe"])
def test_removed_probe_is_a_violation(probe):
    every = {p: {"tcpSocket": {"port": 1}} for p in ("readinessProbe", "livenessProbe", "startupProbe")}
    before = workload(containers=[container(**every), container("side", **every)])
    after = workload(containers=[container(**{**every, probe: None}), container("side", **every)])
    assert find_broken_invariants(before, before) == []
    assert find_broken_invariants(before, after) == [f"Deployment/cart container main lost its {probe}"]


def test_absent_baseline_probe_is_not_required():
    assert find_broken_invariants(workload(), workload()) == []


def test_removed_container_is_a_violation():
    before = workload(containers=[container(), container("side")])
    assert find_broken_invariants(before, workload()) == ["Deployment/cart container side is gone"]
    assert find_broken_invariants(before, workload(containers=[container("side")])) == [
        "Deployment/cart container main is gone"
    ]
    assert find_broken_invariants(workload(), before) == []
    assert find_broken_invariants(before, {**workload(), "spec": {}}) == [
        f"Deployment/cart container {name} is gone" for name in ("main", "side")
    ]


def build_sized_workload(part, key, value):
    resources = {} if value is None else {"resources": {part: {key: value}}}
    return workload(containers=[container(**resources)])


@pytest.mark.parametrize(
    ("part", "key", "before", "after", "problem"),
    [
        ("limits", "memory", "64Mi", "256Mi", ""),
        ("limits", "memory", "64Mi", "257Mi", "limits memory grew from 64Mi to 257Mi, more than × 4"),
        ("limits", "memory", "64Mi", "1Gi", "limits memory grew from 64Mi to 1Gi, more than × 4"),
        ("limits", "memory", "64Mi", "16Mi", ""),
        ("limits", "memory", "64Mi", None, "it has no limit of memory any more, its baseline is 64Mi"),
        ("limits", "cpu", "500m", "2", ""),
        ("limits", "cpu", "500m", "2100m", "limits cpu grew from 500m to 2100m, more than × 4"),
        ("limits", "cpu", "500m", None, "it has no limit of cpu any more, its baseline is 500m"),
        ("limits", "ephemeral-storage", "1Gi", "9Gi", ""),
        ("requests", "memory", "64Mi", "256Mi", ""),
        ("requests", "memory", "64Mi", "300Mi", "requests memory grew from 64Mi to 300Mi, more than × 4"),
        ("requests", "cpu", "100m", "500m", "requests cpu grew from 100m to 500m, more than × 4"),
        ("requests", "memory", "64Mi", None, ""),
        ("requests", "cpu", "100m", None, ""),
    ],
)
def test_resources_may_grow_fourfold_and_limits_must_remain(part, key, before, after, problem):
    expected = [f"Deployment/cart container main: {problem}"] if problem else []
    assert (
        find_broken_invariants(build_sized_workload(part, key, before), build_sized_workload(part, key, after))
        == expected
    )


def test_added_limit_is_allowed():
    assert find_broken_invariants(workload(), build_sized_workload("limits", "memory", "9Gi")) == []


def test_each_resource_is_checked():
    both = workload(containers=[container(resources={"limits": {"cpu": "1", "memory": "64Mi"}})])
    more = workload(containers=[container(resources={"limits": {"memory": "1Gi"}})])
    assert find_broken_invariants(both, more) == [
        "Deployment/cart container main: it has no limit of cpu any more, its baseline is 1",
        "Deployment/cart container main: limits memory grew from 64Mi to 1Gi, more than × 4",
    ]


def test_missing_objects_are_reported_and_others_still_checked():
    before = [workload(name="a"), workload(name="b"), workload("StatefulSet", "b"), workload(name="c", replicas=2)]
    assert find_broken_invariants(before, [workload(name="b"), workload(name="c")]) == [
        "Deployment/a is gone",
        "Deployment/c is scaled to 1, its baseline is 2",
        "StatefulSet/b is gone",
    ]


def test_only_workloads_services_and_the_flags_are_guarded():
    objects = [
        workload("Job", "once"),
        workload("StatefulSet", "db"),
        workload("DaemonSet", "agent"),
        workload(name="web"),
        {"kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {}},
        {"kind": "Service", "metadata": {"name": "db"}},
        workload(name="cart"),
    ]
    assert [(g.kind, g.name) for g in invariants.take_baseline(objects, APP)] == [
        ("DaemonSet", "agent"),
        ("Deployment", "cart"),
        ("Deployment", "web"),
        ("Service", "db"),
        ("StatefulSet", "db"),
    ]


def build_load_generator(name, **variables):
    env = [{"name": key, "value": value} for key, value in variables.items()]
    return workload(name=name, containers=[container(env=[*env, {"name": "FROM", "valueFrom": {}}])])


def test_baseline_contains_compared_fields():
    probed = container(
        "main", livenessProbe={"exec": {}}, resources={"requests": {"cpu": 1}, "limits": {"memory": "1Gi", "x": 2}}
    )
    (found,) = invariants.take_baseline([workload(containers=[probed, container("side")], replicas=4)], APP)
    assert found == Guarded(
        kind="Deployment",
        name="cart",
        replicas=4,
        probes={"main": ["livenessProbe"], "side": []},
        resources={"main": {"requests cpu": "1", "limits memory": "1Gi"}, "side": {}},
    )


def test_environment_counts_only_for_load_generators():
    cart, locust = invariants.take_baseline(
        [build_load_generator("cart", USERS="5"), build_load_generator("locust", USERS="5", RATE="2")], APP
    )
    assert cart.environment == {}
    assert locust.environment == {"main/USERS": "5", "main/RATE": "2", "main/FROM": ""}


@pytest.mark.parametrize(
    ("now", "problems"),
    [
        ({"USERS": "5", "RATE": "2"}, []),
        ({"USERS": "5", "RATE": "2", "MORE": "1"}, []),
        ({"USERS": "1", "RATE": "2"}, ["the load setting USERS is 1, its baseline is 5"]),
        ({"RATE": "2"}, ["the load setting USERS is gone, its baseline is 5"]),
        ({"USERS": "", "RATE": "2"}, ["the load setting USERS is gone, its baseline is 5"]),
        ({}, ["the load setting USERS is gone, its baseline is 5", "the load setting RATE is gone, its baseline is 2"]),
    ],
)
def test_offered_load_stays(now, problems):
    found = find_broken_invariants(
        build_load_generator("locust", USERS="5", RATE="2"), build_load_generator("locust", **now)
    )
    assert found == [f"Deployment/locust container main: {p}" for p in problems]


def test_load_settings_are_checked_per_container():
    two = [container("main", env=[{"name": "USERS", "value": "5"}]), container("main2", env=[])]
    moved = [container("main", env=[]), container("main2", env=[{"name": "USERS", "value": "5"}])]
    found = find_broken_invariants(workload(name="locust", containers=two), workload(name="locust", containers=moved))
    assert found == ["Deployment/locust container main: the load setting USERS is gone, its baseline is 5"]


@pytest.mark.parametrize(("now", "fine"), [("5", True), ("50", True), ("7", False)])
def test_scenario_or_trial_load_is_accepted(now, fine):
    baseline = invariants.take_baseline(
        [build_load_generator("locust", USERS="5", RATE="2")], APP, {"USERS": "50", "OTHER": "1"}
    )
    assert baseline[0].usual == {"main/USERS": "50"}
    assert (
        invariants.find_violations(baseline, [build_load_generator("locust", USERS=now, RATE="2")], APP) == []
    ) is fine


def service(selector, *ports, name="cart", namespace="a"):
    spec = {"selector": selector, "ports": [p if isinstance(p, dict) else {"port": p} for p in ports]}
    return {"kind": "Service", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def build_serving_workload(*ports, labels=None, name="cart"):
    declared = [p if isinstance(p, dict) else {"containerPort": p} for p in ports]
    return workload(
        name=name, labels=labels or {"app": "cart"}, containers=[container(), container("b", ports=declared)]
    )


NAMED = {"containerPort": 8080, "name": "http"}


@pytest.mark.parametrize(
    ("selector", "port", "pods", "leads"),
    [
        ({"app": "cart"}, 8080, build_serving_workload(8080), ("8080",)),
        ({"app": "cart"}, {"port": 80, "targetPort": 8080}, build_serving_workload(8080), ("80",)),
        ({"app": "cart"}, {"port": 80, "targetPort": "http"}, build_serving_workload(NAMED), ("80",)),
        ({"app": "cart"}, {"port": 8080, "targetPort": 8081}, build_serving_workload(8080), ()),
        ({"app": "cart"}, {"port": 80, "targetPort": "grpc"}, build_serving_workload(NAMED), ()),
        ({"app": "cart", "tier": "x"}, 8080, build_serving_workload(8080), ()),
        ({"app": "cart"}, 8080, build_serving_workload(8080, labels={"app": "cart", "tier": "x"}), ("8080",)),
        ({"app": "ad"}, 8080, build_serving_workload(8080), ()),
        ({}, 8080, build_serving_workload(8080), ()),
        (None, 8080, build_serving_workload(8080), ()),
    ],
)
def test_service_leads_to_listening_pods(selector, port, pods, leads):
    found = {g.kind: g for g in invariants.take_baseline([pods, service(selector, port)], APP)}
    assert found["Service"].leads == leads
    assert found["Deployment"].leads == ()


def test_service_selects_pods_of_its_namespace_only():
    (_, found) = invariants.take_baseline(
        [build_serving_workload(8080), service({"app": "cart"}, 8080, namespace="b")], APP
    )
    assert found.leads == ()


def test_ports_without_listener_are_violations():
    before = [build_serving_workload(80, 81, 82), service({"app": "cart"}, 80, 81, 82, 99)]
    after = [build_serving_workload(81), service({"app": "cart"}, 80, 81, 82, 99)]
    assert find_broken_invariants(before, after) == [
        f"Service/cart: nothing listens behind port {port} any more" for port in (80, 82)
    ]


def test_checks_continue_after_services_and_flags():
    before = [service({}, 1, name="a"), workload("StatefulSet", "db", replicas=2), service({}, 1, name="z")]
    assert find_broken_invariants(before, [before[0], workload("StatefulSet", "db")]) == [
        "Service/z is gone",
        "StatefulSet/db is scaled to 1, its baseline is 2",
    ]


STORE = {
    "configMap": "flags",
    "key": "flags.json",
    "effects": {"users": {"component": "locust", "effect": "Surge"}, "mail": {"component": "cart", "effect": "Errors"}},
}
FLAGGED = build_app(flags=STORE)


def flags(name="flags", **written):
    return {"kind": "ConfigMap", "metadata": {"name": name}, "data": {"flags.json": json.dumps({"flags": written})}}


def flag(value, **more):
    return {"state": "ENABLED", "variants": {"v": value, "off": 0}, "defaultVariant": "v", **more}


def test_load_flags_are_guarded():
    (found,) = invariants.take_baseline([flags(users=flag(5), mail=flag(1), other=flag(2))], FLAGGED)
    assert found == Guarded(kind="ConfigMap", name="flags", environment={"flags.json/users": "5"})


@pytest.mark.parametrize(("name", "app"), [("other", FLAGGED), ("flags", APP)])
def test_other_config_maps_are_not_guarded(name, app):
    assert invariants.take_baseline([flags(name, users=flag(5))], app) == ()


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        (flag(5), "5"),
        (flag("five"), '"five"'),
        (flag({"b": 1, "a": 2}), '{"a": 2, "b": 1}'),
        (flag(5, state="DISABLED"), "disabled"),
        (flag(5, state=None), "5"),
        (flag(5, targeting={"if": 1, "a": 2}), '{"a": 2, "if": 1}'),
        (flag(5, targeting={}), "5"),
        (flag(5, state="DISABLED", targeting={"if": 1}), "disabled"),
        (flag(5, defaultVariant="off"), "0"),
        (flag(5, defaultVariant="none"), "null"),
        (flag(5, variants=None), "null"),
        ({}, "null"),
    ],
)
def test_effective_flag_value_is_its_default_variant(value, answer):
    assert invariants.read_effective(value) == answer


def test_removed_load_flag_is_a_violation():
    before = flags(users=flag(5))
    assert find_broken_invariants(before, flags(users=flag(5)), app=FLAGGED) == []
    assert find_broken_invariants(before, flags(users=flag(6)), app=FLAGGED) == [
        "ConfigMap/flags: the load setting users is 6, its baseline is 5"
    ]
    assert find_broken_invariants(before, flags(), app=FLAGGED) == [
        "ConfigMap/flags: the load setting users is gone, its baseline is 5"
    ]


@pytest.mark.parametrize(
    ("obj", "keys"),
    [
        ({"data": {"a": "1", "b": "", "c": None}}, {"a"}),
        ({"stringData": {"a": "1", "b": ""}, "data": None}, {"a"}),
        ({"binaryData": {"a": "MQ==", "b": None}}, {"a"}),
        ({"data": {"a": "1"}, "stringData": {"b": "2"}, "binaryData": {"c": "Mw=="}}, {"a", "b", "c"}),
        ({"metadata": {"name": "x"}}, set()),
    ],
)
def test_list_data_keys_skips_empty_values(obj, keys):
    assert invariants.list_data_keys(obj) == keys


def test_resources_absent_from_baseline_are_unrestricted():
    guard = Guarded(kind="Deployment", name="cart", replicas=0, probes={"main": []})
    assert invariants.find_violations([guard], [build_sized_workload("limits", "cpu", "99")], APP) == []


def test_removed_limits_and_raised_values_are_reported():
    before = workload(
        containers=[container(resources={"requests": {"cpu": "1"}, "limits": {"cpu": "1", "memory": "64Mi"}})]
    )
    after = workload(containers=[container(resources={"requests": {"cpu": "9"}})])
    assert [problem.partition(": ")[2][:24] for problem in find_broken_invariants(before, after)] == [
        "requests cpu grew from 1",
        "it has no limit of cpu a",
        "it has no limit of memor",
    ]
