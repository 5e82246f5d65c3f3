"""Reading and binding of chaos objects."""

import pytest

from scenario_kit.changes import chaos
from scenario_kit.changes.chaos import SelectedPods
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Reference, Severity
from scenario_kit.testing import FakeCluster

API = "chaos-mesh.org/v1alpha1"


def experiment(kind="NetworkChaos", name="x", namespace="shop", status=None, labels=None, **spec):
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {}) | ({"labels": labels} if labels else {})
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec} | (
        {"status": status} if status else {}
    )


def pod(name, namespace="shop", created="2026-01-01T00:00:00Z", phase="Running", ids=("c1",), going=False, **labels):
    metadata = {
        "name": name,
        "namespace": namespace,
        "uid": f"u-{name}",
        "creationTimestamp": created,
        "labels": labels,
    }
    status = {"phase": phase, "startTime": created} | (
        {"containerStatuses": [{"containerID": i} for i in ids]} if ids is not None else {}
    )
    if going:
        metadata["deletionTimestamp"] = created
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"nodeName": "n1"}, "status": status}


def test_make_reference_of_experiment():
    assert chaos.make_reference(experiment()) == Reference("NetworkChaos", "x", "shop", "chaos-mesh.org")
    assert chaos.make_reference(experiment(namespace="")) == Reference("NetworkChaos", "x", "", "chaos-mesh.org")


@pytest.mark.parametrize(
    ("obj", "lasts"),
    [
        (experiment(action="loss"), True),
        (experiment("PodChaos", action="pod-failure"), True),
        (experiment("PodChaos", action="pod-kill"), False),
        (experiment("PodChaos", action="container-kill"), False),
        (experiment("StressChaos"), True),
        (experiment("Schedule", type="NetworkChaos"), False),
        ({"kind": "StressChaos"}, True),
    ],
)
def test_lasts_until_deleted(obj, lasts):
    assert chaos.lasts_until_deleted(obj) is lasts


@pytest.mark.parametrize(
    ("obj", "after"),
    [
        (experiment(duration="90s"), 90.0),
        (experiment(duration="1m30s"), 90.0),
        (experiment(), None),
        (experiment(duration=""), None),
        (experiment(duration="soon"), None),
        (experiment("PodChaos", action="pod-kill", duration="90s"), None),
        (experiment("Schedule", duration="90s"), None),
        ({"apiVersion": "v1", "kind": "ConfigMap", "spec": {"duration": "90s"}}, None),
        ({"apiVersion": "chaos-mesh.organic/v1", "kind": "NetworkChaos", "spec": {"duration": "90s"}}, None),
        ({"apiVersion": API, "kind": "NetworkChaos"}, None),
    ],
)
def test_parse_experiment_duration(obj, after):
    assert chaos.parse_experiment_duration(obj) == after


@pytest.mark.parametrize(
    ("pods", "empty", "everyone"),
    [
        (SelectedPods([]), True, []),
        (SelectedPods(["a"]), False, ["a"]),
        (SelectedPods(["a"], []), True, ["a"]),
        (SelectedPods([], ["b"]), True, ["b"]),
        (SelectedPods(["a"], ["b"]), False, ["a", "b"]),
    ],
)
def test_selection_is_empty_without_pods_on_a_side(pods, empty, everyone):
    assert pods.empty is empty
    assert pods.pods == everyone


PODS = (
    pod("old", app="web", created="2026-01-01T00:00:00Z"),
    pod("new", app="web", created="2026-01-03T00:00:00Z"),
    pod("b-same", app="web", created="2026-01-02T00:00:00Z"),
    pod("a-same", app="web", created="2026-01-02T00:00:00Z"),
    pod("pending", app="slow", phase="Pending"),
    pod("ended", app="slow", phase="Succeeded"),
    pod("failed", app="slow", phase="Failed"),
    pod("going", app="slow", going=True),
    pod("unborn", app="slow", ids=None),
    pod("abroad", namespace="stores", app="web"),
    pod("foreign", namespace="other", app="web"),
)


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ({"labelSelectors": {"app": "web"}}, ["old", "a-same", "b-same", "new"]),
        ({"labelSelectors": {"app": "slow"}}, ["pending"]),
        ({"namespaces": ["shop", "stores"], "labelSelectors": {"app": "web"}},
         ["abroad", "old", "a-same", "b-same", "new"]),
        ({"namespaces": ["stores"]}, ["abroad"]),
        ({"pods": {"shop": ["new", "old", "absent", "going"]}}, ["old", "new"]),
        ({"pods": {"stores": ["abroad"], "shop": ["old"]}}, ["abroad", "old"]),
        ({"expressionSelectors": [{"key": "app", "operator": "In", "values": ["slow"]}]}, ["pending"]),
        ({"podPhaseSelectors": ["Pending"]}, ["pending"]),
        ({"nodes": ["n1"], "labelSelectors": {"app": "web"}}, ["old", "a-same", "b-same", "new"]),
        ({"nodeSelectors": {"disk": "ssd"}}, []),
        ({"nodeSelectors": {"disk": "hdd"}, "labelSelectors": {"app": "slow"}}, ["pending"]),
    ],
)  # fmt: skip
def test_select_lists_live_pods_oldest_first(selector, found):
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"disk": "hdd"}}, "spec": {}}
    cluster = FakeCluster([*PODS, node])
    assert [p["metadata"]["name"] for p in chaos.select(cluster, selector, "shop")] == found


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ({"nodes": ["n1", "n9", "n8"]}, "n9"),
        ({"expressionSelectors": [{"key": "app", "operator": "Near", "values": ["x"]}]}, "cannot read the selector"),
    ],
)
def test_select_refuses_invalid_selector(selector, text):
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "spec": {}}
    with pytest.raises(AuthoringError, match=text):
        chaos.select(FakeCluster([*PODS, node]), selector, "shop")


def names(pods):
    return None if pods is None else [p["metadata"]["name"] for p in pods]


@pytest.mark.parametrize(
    ("obj", "targets", "peers"),
    [
        (experiment(mode="all", selector={"labelSelectors": {"app": "web"}}), ["old", "a-same", "b-same", "new"], None),
        (experiment(mode="one", selector={"labelSelectors": {"app": "web"}}), ["old"], None),
        (experiment(mode="fixed", value="2", selector={"labelSelectors": {"app": "web"}}), ["old", "a-same"], None),
        (experiment(mode="fixed-percent", value="50", selector={"labelSelectors": {"app": "web"}}),
         ["old", "a-same"], None),
        (experiment(mode="one", selector={"labelSelectors": {"app": "web"}},
                    target={"mode": "fixed", "value": "3", "selector": {"labelSelectors": {"app": "web"}}}),
         ["old"], ["old", "a-same", "b-same"]),
        (experiment(mode="one", selector={"labelSelectors": {"app": "web"}},
                    target={"mode": "all", "selector": {"labelSelectors": {"app": "none"}}}), ["old"], []),
        (experiment(namespace="stores", mode="all", selector={}), ["abroad"], None),
        (experiment(namespace="", mode="one", selector={}), ["old"], None),
        (experiment("Schedule", type="PodChaos",
                    podChaos={"mode": "one", "selector": {"labelSelectors": {"app": "web"}}}), ["old"], None),
    ],
)  # fmt: skip
def test_choose_pods_of_experiment(obj, targets, peers):
    found = chaos.choose_pods(FakeCluster(PODS[:7] + PODS[9:]), obj, "shop")
    assert [names(found.targets)[: len(targets)], names(found.peers)] == [targets, peers]
    assert len(found.targets) == len(targets) or obj["metadata"].get("namespace") is None


def test_choose_pods_refuses_mode_without_number():
    with pytest.raises(AuthoringError, match="Chaos Mesh cannot read"):
        chaos.choose_pods(FakeCluster(PODS), experiment(mode="fixed", value="x", selector={}), "shop")


def test_list_chaos_selecting_another_namespace():
    cluster = FakeCluster([
        experiment(name="at", namespace="hidden", selector={"namespaces": ["shop"]}),
        experiment("StressChaos", name="pods", namespace="hidden", selector={"pods": {"shop": ["a"]}}),
        experiment(name="other", namespace="hidden", selector={"namespaces": ["else"]}),
        experiment(name="here", namespace="shop", selector={"namespaces": ["shop"]}),
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "hidden"}},
    ])  # fmt: skip
    assert sorted(names(chaos.list_chaos_selecting(cluster, "hidden", at="shop"))) == ["at", "pods"]


def test_list_experiments_of_schedule():
    labels = {"managed-by": "s"}
    cluster = FakeCluster([
        experiment(name="s-1", labels=labels), experiment(name="s-2", labels=labels, namespace="other"),
        experiment(name="s-3", labels={"managed-by": "t"}), experiment("PodChaos", name="s-4", labels=labels),
    ])  # fmt: skip
    schedule = Reference("Schedule", "s", "shop", "chaos-mesh.org")
    assert chaos.list_experiments_of(cluster, schedule, "NetworkChaos") == [
        Reference("NetworkChaos", "s-1", "shop", "chaos-mesh.org")
    ]


def test_explain_empty_selection():
    message, (finding,) = chaos.explain_empty_selection("NetworkChaos/x")
    assert message == finding.message == "the selector of NetworkChaos/x matches no running pod"
    assert (finding.code, finding.severity) == ("SK111", Severity.ERROR)


def test_bind_selects_exactly_the_pods():
    template = experiment(action="loss", mode="one", selector={"labelSelectors": {"a": "b"}})
    template["spec"]["target"] = {"mode": "one", "selector": {}, "value": "7"}
    pods = SelectedPods([pod("b"), pod("a"), pod("c", namespace="else")], [pod("d")])
    assert chaos.bind(template, pods)["spec"] == {
        "action": "loss", "mode": "all",
        "selector": {"namespaces": ["else", "shop"], "pods": {"shop": ["b", "a"], "else": ["c"]}},
        "target": {"mode": "all", "value": "7", "selector": {"namespaces": ["shop"], "pods": {"shop": ["d"]}}},
    }  # fmt: skip
    assert template["spec"]["mode"] == "one", "the template stays as it was"
    assert chaos.bind(template, SelectedPods([pod("a")]))["spec"]["target"] == {
        "mode": "one",
        "selector": {},
        "value": "7",
    }


@pytest.mark.parametrize(
    ("selector", "bound"),
    [
        ({"labelSelectors": {"a": "b"}}, {"labelSelectors": {"a": "b"}, "namespaces": ["shop"]}),
        ({}, {"namespaces": ["shop"]}),
        ({"namespaces": ["stores"]}, {"namespaces": ["stores"]}),
        ({"pods": {"shop": ["a"]}}, {"pods": {"shop": ["a"]}}),
    ],
)
def test_bind_schedule_sets_namespaces_on_both_sides(selector, bound):
    inner = {"mode": "all", "selector": selector, "target": {"mode": "all", "selector": dict(selector)}}
    template = experiment("Schedule", type="NetworkChaos", schedule="@every 1m", networkChaos=inner)
    spec = chaos.bind(template, SelectedPods([pod("a")], [pod("b")]))["spec"]["networkChaos"]
    assert (spec["selector"], spec["target"]["selector"]) == (bound, bound)
    assert template["spec"]["networkChaos"]["selector"] == selector
    one = experiment("Schedule", type="PodChaos", podChaos={"mode": "all", "selector": dict(selector)})
    assert chaos.bind(one, SelectedPods([pod("a")]))["spec"]["podChaos"] == {"mode": "all", "selector": bound}
    bare = experiment("Schedule", type="PodChaos", podChaos={"mode": "all"})
    assert chaos.bind(bare, SelectedPods([]))["spec"]["podChaos"] == {"mode": "all"}


def test_list_covered_of_bound_object():
    cluster = FakeCluster(PODS)
    bound = experiment(mode="all", selector={"pods": {"shop": ["old", "new"]}})
    assert chaos.list_covered(cluster, bound) == ("u-new:c1", "u-old:c1")
    here = experiment(namespace="stores", mode="all", selector={})
    assert chaos.list_covered(cluster, here) == ("u-abroad:c1",)
    assert (
        chaos.list_covered(cluster, experiment("Schedule", type="PodChaos", podChaos={"mode": "all", "selector": {}}))
        == ()
    )


def test_identify_pods_by_uid_and_containers():
    unstarted = {"metadata": {"uid": "u-3"}}
    without_id = {"metadata": {"uid": "u-4"}, "status": {"containerStatuses": [{}]}}
    found = chaos.identify_pods([pod("b", ids=("c2", "c1")), pod("a", ids=()), unstarted, without_id])
    assert found == ("u-3:", "u-4:", "u-a:", "u-b:c1,c2")


@pytest.mark.parametrize("kind", ["NetworkChaos", "PodChaos", "StressChaos", "IOChaos", "TimeChaos"])
@pytest.mark.parametrize(
    ("before", "now", "anyway", "with_containers"),
    [
        (["a:1"], ["a:1"], False, False),
        (["a:1"], ["a:2"], False, True),  # its container was restarted
        (["a:1"], ["a:1", "b:1"], True, True),
        (["a:1", "b:1"], ["a:1"], False, False),
        (["a:1"], [], False, False),
        ([], ["a:1"], True, True),
    ],
)
def test_has_uncovered_pods_by_kind(kind, before, now, anyway, with_containers):
    expected = anyway if kind in ("NetworkChaos", "PodChaos") else with_containers
    assert chaos.has_uncovered_pods(experiment(kind), before, now) is expected


def build_status(*records):
    return {"experiment": {"containerRecords": list(records)}}


def record(phase="Injected", injected=1, recovered=0, **more):
    return {"phase": phase, "injectedCount": injected, "recoveredCount": recovered, **more}


@pytest.mark.parametrize(
    ("live", "claim"),
    [
        (experiment(), None),
        (experiment(status={"experiment": {}}), None),
        (experiment(status=build_status()), None),
        (experiment(status=build_status(record())), True),
        (experiment(status=build_status(record(), record("Not Injected"))), None),
        (experiment(status=build_status(record(injected=1, recovered=1))), None),
        (experiment(status=build_status(record(injected=2, recovered=1))), True),
        (experiment(status=build_status({"phase": "Injected", "injectedCount": 1})), True),
        (experiment(status=build_status({"phase": "Injected"})), None),
        (experiment(status=build_status({"injectedCount": 1})), None),
        (experiment("Schedule"), True),
    ],
)
def test_is_injected_reads_records(live, claim):
    assert chaos.is_injected(live) is claim


FAILED = {"type": "Failed", "message": "second"}


@pytest.mark.parametrize(
    ("status", "trouble"),
    [
        (None, ""),
        (build_status(), ""),
        (build_status(record(id="shop/a")), ""),
        (build_status(record(id="shop/a", events=[{"type": "Failed", "message": "first"}, FAILED])), "shop/a: second"),
        (build_status(record(id="shop/a", events=[FAILED, {"type": "Succeeded"}])), "shop/a: second"),
        (build_status(record(id="shop/a", events=[{"type": "Succeeded"}]), record(id="shop/b", events=[FAILED])),
         "shop/b: second"),
        (build_status(record(events=[{"type": "Failed"}])), ": "),
        (build_status(record(id="a", events=[{}])), ""),
    ],
)  # fmt: skip
def test_read_last_failure(status, trouble):
    assert chaos.read_last_failure(experiment(status=status)) == trouble


@pytest.mark.parametrize(
    ("trouble", "answer", "objection"),
    [
        ("", ("", ""), ""),
        ("a: rpc error: code = InvalidArgument desc = no\nsuch", ("InvalidArgument", "no\nsuch"), "no\nsuch"),
        ("rpc error: code = Unimplemented desc = no", ("Unimplemented", "no"), ""),
        ("rpc error: code = Internal desc = unknown action", ("Internal", "unknown action"), ""),
        ("rpc error: code = Unknown desc = unknown action x", ("Unknown", "unknown action x"), "unknown action x"),
        ("unknown action x", ("", ""), "unknown action x"),
        ("dial tcp: no such host", ("", ""), ""),
        ("something else", ("", ""), ""),
    ],
)
def test_parse_daemon_response_and_content_error(trouble, answer, objection):
    assert chaos.parse_daemon_response(trouble) == answer
    assert chaos.parse_content_error(trouble) == objection
