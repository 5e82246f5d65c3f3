"""The runbook baseline: one cluster state per check, and the blamed object."""

import msgspec
import pytest

from scenario_kit.solver.baselines.cluster_state import (
    POD_COLUMNS,
    SERVICE_COLUMNS,
    WORKLOAD_COLUMNS,
    ClusterState,
    SeenNode,
    SeenPod,
    SeenService,
    SeenWarning,
    SeenWorkload,
    read_map,
    split_list,
)
from scenario_kit.solver.baselines.observation import Observation, SeenAlert, SeenCall, SeenObject, SeenSpan
from scenario_kit.solver.baselines.runbook import consult_runbook, list_suspects

CAME, LATER, LAST = "2026-11-25T10:00:00Z", "2026-11-25T10:10:00Z", "2026-11-25T10:12:00Z"
NAMES = ("cart", "db", "web")


def workload(name, desired=1, available=1):
    return SeenWorkload(kind="Deployment", name=name, desired=desired, available=available)


def pod(name, **given):
    seen = SeenPod(
        name=f"{name}-5d9c-x1", node="worker-1", phase="Running", ready=True, waiting=(), ended=(),
        ports=("8080", "http"), labels={"app": name},
    )  # fmt: skip
    return msgspec.structs.replace(seen, **given)


def service(name, **given):
    seen = SeenService(name=name, target_ports=("8080",), selector={"app": name})
    return msgspec.structs.replace(seen, **given)


def warn(reason, name, message="", kind="Pod"):
    return SeenWarning(reason=reason, kind=kind, name=name, message=message)


def build_seen_object(kind, name, at=CAME):
    return SeenObject(kind=kind, name=name, created=CAME, written=at)


HEALTHY = ClusterState(
    workloads=tuple(map(workload, NAMES)), pods=tuple(map(pod, NAMES)), services=tuple(map(service, NAMES)),
    nodes=(SeenNode(name="worker-1", ready=True, schedulable=True),),
)  # fmt: skip
OBJECTS = tuple(build_seen_object("Deployment", name) for name in NAMES)
ALERT = SeenAlert(name="HighRequestErrorRate", firing=True, since=LATER, labels={"service_name": "web"})
CALLS = (SeenCall(caller="web", callee="cart", count=9), SeenCall(caller="cart", callee="db", count=9))


def consult(objects=OBJECTS, alerts=(ALERT,), spans=(), **changed):
    state = msgspec.structs.replace(HEALTHY, **changed)
    return consult_runbook(Observation(alerts=alerts, objects=objects, calls=CALLS, spans=spans, state=state))


def swap(*instead):
    """Return the pods of the healthy app with these instead."""
    named = {each.name: each for each in (*HEALTHY.pods, *instead)}
    return tuple(named[name] for name in sorted(named))


@pytest.mark.parametrize(
    ("changed", "blamed"),
    [
        ({}, "Deployment/web"),
        ({"nodes": (SeenNode(name="worker-1", ready=False, schedulable=True),)}, "Node/worker-1"),
        ({"warnings": (warn("FailedCreate", "cart-5d9c", 'pods "x" is forbidden: exceeded quota: small, requested: 1',
                            "ReplicaSet"),)}, "ResourceQuota/small"),
        ({"pods": swap(pod("cart", waiting=("ImagePullBackOff",), ready=False))}, "Deployment/cart"),
        ({"pods": swap(pod("cart", waiting=("CreateContainerConfigError",), ready=False))}, "Deployment/cart"),
        ({"pods": swap(pod("cart", ended=("OOMKilled",)))}, "Deployment/cart"),
        ({"pods": swap(pod("cart", waiting=("CrashLoopBackOff",), ended=("Error",)))}, "Deployment/cart"),
        ({"pods": swap(pod("cart", phase="Pending", node="", ready=False)),
          "warnings": (warn("FailedScheduling", "cart-5d9c-x1", "0/1: Insufficient memory"),)}, "Deployment/cart"),
        ({"pods": swap(pod("cart", phase="Pending", node="", ready=False)),
          "nodes": (SeenNode(name="worker-1", ready=True, schedulable=False),),
          "warnings": (warn("FailedScheduling", "cart-5d9c-x1", "1 node(s) were unschedulable"),)}, "Node/worker-1"),
        ({"workloads": (workload("cart", 0, 0), workload("db"), workload("web"))}, "Deployment/cart"),
        ({"services": (service("cart", selector={"app": "carts"}), service("web"))}, "Service/cart"),
        ({"services": (service("cart", target_ports=("9999",)), service("web"))}, "Service/cart"),
        ({"services": (service("cart", target_ports=("http",)), service("web"))}, "Deployment/web"),
        ({"pods": swap(pod("cart", ready=False)), "warnings": (warn("Unhealthy", "cart-5d9c-x1"),)}, "Deployment/cart"),
        ({"workloads": (workload("cart", 2, 1), workload("db"), workload("web"))}, "Deployment/cart"),
    ],
    ids=[
        "nothing: whoever alerts", "node", "quota", "image", "configuration", "memory", "crash", "too large",
        "cordoned", "no replicas", "selector", "port", "a port by its name", "probe", "too few",
    ],
)  # fmt: skip
def test_every_runbook_check_blames_its_object(changed, blamed):
    assert consult(**changed)[0] == blamed


@pytest.mark.parametrize(
    ("objects", "blamed"),
    [
        ((*OBJECTS, build_seen_object("NetworkPolicy", "deny", LAST)), "NetworkPolicy/deny"),
        (
            (*OBJECTS, build_seen_object("ConfigMap", "flags", LAST), build_seen_object("ConfigMap", "old")),
            "ConfigMap/flags",
        ),
        ((*OBJECTS, build_seen_object("Service", "cart", LAST), build_seen_object("Service", "web")), "Service/cart"),
        ((*OBJECTS[1:], build_seen_object("Deployment", "cart", LAST)), "Deployment/cart"),
        (tuple(build_seen_object("Deployment", name, LAST) for name in NAMES), "Deployment/web"),
    ],
    ids=["policy", "configuration", "service", "workload", "all at once is maintenance"],
)
def test_recently_changed_object_is_blamed(objects, blamed):
    assert consult(objects=objects)[0] == blamed


def test_findings_about_the_alert_come_first():
    pods = swap(pod("db", ended=("OOMKilled",)))
    workloads = (workload("cart", 0, 0), workload("db"), workload("web"), workload("other", 0, 0))
    services = (*HEALTHY.services, service("other"))
    ranked = consult(pods=(*pods, pod("other", waiting=("ImagePullBackOff",))), workloads=workloads, services=services)
    assert ranked[:3] == ["Deployment/db", "Deployment/cart", "Deployment/other"]


def test_alert_about_an_object_names_the_first_suspect():
    about = SeenAlert(name="KubePodNotReady", firing=True, since=LAST, labels={"pod": "db-5d9c-x1"})
    seen = Observation(alerts=(ALERT, about), objects=OBJECTS, calls=CALLS)
    assert list_suspects(seen) == ["Deployment/db", "Deployment/web", "Deployment/cart"]


def test_failing_spans_lead():
    spans = (
        SeenSpan(trace="1", service="cart", failed=True, milliseconds=1.0),
        SeenSpan(trace="2", service="web", failed=False, milliseconds=1.0),
    )
    assert consult(spans=spans)[0] == "Deployment/cart"


def test_only_broken_state_is_blamed_without_alerts():
    changed = (
        *OBJECTS[1:],
        build_seen_object("Deployment", "cart", LAST),
        build_seen_object("ConfigMap", "flags", LAST),
    )
    assert consult(objects=changed, alerts=()) == []
    assert consult(objects=changed, alerts=(), pods=swap(pod("db", ended=("OOMKilled",)))) == ["Deployment/db"]


def test_empty_observation_has_no_suspects():
    assert consult_runbook(Observation()) == []


def test_cells_of_kubectl():
    assert read_map("map[app:cart app.kubernetes.io/name:cart]") == {"app": "cart", "app.kubernetes.io/name": "cart"}
    assert read_map("") == {}
    assert split_list("8080,<none>,http") == ("8080", "http")
    row = ["cart-1", "", "Pending", "False", "", "ErrImagePull", "", "OOMKilled", "8080", "http", "map[app:cart]"]
    seen = SeenPod.read(row)
    assert len(row) == len(POD_COLUMNS)
    assert (seen.waiting, seen.ended, seen.ports) == (("ErrImagePull",), ("OOMKilled",), ("8080", "http"))
    assert SeenService.read(["cart", "80,http", "map[app:cart]"]).selector == {"app": "cart"}
    assert len(SERVICE_COLUMNS) == 3
    daemon = SeenWorkload.read("DaemonSet", ["agent", "", "3", "", "2"])
    assert len(WORKLOAD_COLUMNS) == 5
    assert (daemon.desired, daemon.available) == (3, 2)
