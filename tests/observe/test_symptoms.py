"""Signs: equal symptoms give equal texts, independent of pod names and numbers."""

import pytest

from scenario_kit.model import Reference
from scenario_kit.model.authored.app import App, Component
from scenario_kit.observe.symptoms import (
    explain_hindered,
    extract_template,
    find_event_symptoms,
    find_log_symptoms,
    find_pod_symptoms,
    is_about,
    list_started,
)
from scenario_kit.ports import LogLine

APP = App(
    name="shop", version="1", namespace="shop", entry="cart",
    components=(Component(name="cart", workload=Reference("Deployment", "cart"), service="cart"),),
)  # fmt: skip
POD = "cart-7d9f8b6c54-x2x4z"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("dial tcp 10.0.3.17:8080: connect: connection refused", "dial tcp #.#.#.#:#: connect: connection refused"),
        ("2026-01-01T00:00:07.123Z ERROR x", "#-#-#T#:#:#.#Z ERROR x"),
        ("trace 4bf92f3577b34da6a3ce929d0e0e4736 failed", "trace # failed"),
        ("order 1f2e3d4c-aaaa-bbbb-cccc-0123456789ab failed", "order # failed"),
        ("deadbeef failed", "deadbeef failed"),
    ],
)
def test_templates(line, kind):
    assert extract_template(line) == kind


def test_warning_events_are_grouped_by_workload():
    about = {"kind": "Pod", "name": POD}
    events = [
        {"type": "Warning", "reason": "BackOff", "involvedObject": about},
        {"type": "Normal", "reason": "Pulled", "involvedObject": about},
        {
            "type": "Warning",
            "reason": "FailedCreate",
            "involvedObject": {"kind": "ReplicaSet", "name": "cart-7d9f8b6c54"},
        },
        {"type": "Warning", "reason": "Odd", "regarding": {"kind": "Service", "name": "cart"}},
    ]
    assert find_event_symptoms(events, APP) == {
        "event BackOff on Deployment/cart", "event FailedCreate on Deployment/cart", "event Odd on Service/cart",
    }  # fmt: skip


def test_containers_started_within_interval():
    def pod(name, *states):
        return {"metadata": {"name": name}, "status": {"containerStatuses": [{"state": s} for s in states]}}

    def since(at):
        return {"running": {"startedAt": f"2026-01-01T00:00:{at:02}Z"}}

    start = 1767225600.0
    pods = [pod(POD, {"waiting": {}}, since(10)), pod("batch-x", since(19)), pod("a", since(9)), pod("b", since(20))]
    pods.append({"metadata": {"name": "c"}})
    assert list_started(pods, APP, start + 10, start + 20) == ["Deployment/cart", "Pod/batch-x"]


def test_container_states_become_signs():
    waiting = {
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": {"reason": "OOMKilled"}},
    }
    new = {"state": {"waiting": {"reason": "ContainerCreating"}}}
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    pods = [
        {"metadata": {"name": POD}, "status": {"containerStatuses": [waiting, new], "conditions": [condition]}},
        {"metadata": {"name": POD}},
    ]
    assert find_pod_symptoms(pods, APP) == {
        "state CrashLoopBackOff on Deployment/cart",
        "state OOMKilled on Deployment/cart",
        "state Unschedulable on Deployment/cart",
    }


def test_pending_pods_have_reasons():
    full = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available"}
    containers = [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}, {"state": {"running": {}}}]
    init = [{"state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}}}]
    pods = [
        {"metadata": {"name": POD}, "status": {"conditions": [full]}},
        {"metadata": {"name": POD}, "status": {"containerStatuses": containers, "initContainerStatuses": init}},
        {"metadata": {"name": "web-7d9f8b6c54-x2x4z"}, "status": {"containerStatuses": init}},
        {"metadata": {"name": POD}},
    ]
    assert explain_hindered(pods, APP, "Deployment/cart") == [
        "CrashLoopBackOff: back-off 5m0s", "ImagePullBackOff", "Unschedulable: 0/3 nodes are available",
    ]  # fmt: skip


def test_log_signs_keep_frequent_error_lines():
    lines = [LogLine(POD, "cart", 1.0, "GET / 200")] * 9
    lines += [LogLine(POD, "cart", 1.0, f"error kind {'abcdefghij'[i] * 3}") for i in range(8) for _ in range(10 - i)]
    found = find_log_symptoms(lines, APP)
    assert len(found) == 6
    assert "log of Deployment/cart: error kind aaa" in found
    assert "log of Deployment/cart: error kind hhh" not in found


@pytest.mark.parametrize(
    ("sign", "own"),
    [
        ("event BackOff on Deployment/cart", True),
        ("state OOMKilled on Deployment/cart", True),
        ("log of Deployment/cart: it failed", True),
        ("event BackOff on Deployment/cart-2", False),
        ("log of Deployment/cart-2: it failed", False),
        ("log of Deployment/web: no answer on Deployment/cart: late", False),
    ],
)
def test_is_about_matches_the_object(sign, own):
    assert is_about(sign, "Deployment/cart") == own
