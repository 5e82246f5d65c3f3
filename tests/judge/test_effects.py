"""Evidence of a fault's effect besides its own checks, distinguished from drift and chance."""

import pytest

from scenario_kit.judge.effects import describe_crashes, describe_losses, list_affected
from scenario_kit.model import App, Reference
from scenario_kit.model.authored.app import CallEdge, Component
from scenario_kit.model.runtime.observation import Work

SINCE = 1_700_000_000.0
EARLIER, LATER = "2023-11-14T22:13:19Z", "2023-11-14T22:13:21Z"


def component(name, role="App"):
    return Component(name=name, workload=Reference("Deployment", name), role=role)


SHOP = App(
    name="shop",
    version="1",
    namespace="shop",
    entry="front",
    components=(*map(component, ("front", "checkout", "ads", "billing")), component("orders", "Queue")),
    calls=(
        CallEdge(caller="front", callee="checkout"),
        CallEdge(caller="front", callee="ads"),
        CallEdge(caller="checkout", callee="orders"),
        CallEdge(caller="billing", callee="orders", mode="Async"),
    ),
)


@pytest.mark.parametrize(
    ("hit", "affected"),
    [
        ("front", {"front"}),
        ("ads", {"ads", "front"}),
        ("checkout", {"checkout", "front", "billing"}),
        ("orders", {"orders", "checkout", "billing", "front"}),
        ("billing", {"billing"}),
    ],
    ids=["the entry", "a callee", "a producer starves the consumer", "a broker, both sides", "a consumer"],
)
def test_affected_components_include_callers(hit, affected):
    assert set(list_affected(SHOP, [hit])) == affected


def pod(state):
    return {"status": {"containerStatuses": [{"name": "web", **state}]}}


def build_terminated_state(code, at, reason="Error"):
    return {"terminated": {"exitCode": code, "finishedAt": at, "reason": reason}}


@pytest.mark.parametrize(
    ("state", "crashes"),
    [
        ({"lastState": build_terminated_state(1, LATER)}, ["container web of Deployment/web ended: Error, code 1"]),
        (
            {"state": build_terminated_state(137, LATER, "OOMKilled")},
            ["container web of Deployment/web ended: OOMKilled, code 137"],
        ),
        ({"lastState": build_terminated_state(1, EARLIER)}, []),
        ({"lastState": build_terminated_state(0, LATER)}, []),
        ({"state": {"running": {"startedAt": LATER}}}, []),
        ({"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {}}, []),
        ({"lastState": {"terminated": {"exitCode": 1, "finishedAt": None}}}, []),
    ],
    ids=["crashed", "killed", "before the fault", "done", "running", "no time of an end", "an end without time"],
)
def test_crashes_are_described_by_exit_reason(state, crashes):
    assert describe_crashes([("Deployment/web", pod(state))], SINCE) == crashes


def test_pods_without_a_status_have_not_crashed():
    assert describe_crashes([("Deployment/web", {})], SINCE) == []


def work(requests, errors=0.0, seconds=300.0):
    return Work(seconds=seconds, requests=requests, errors=errors)


@pytest.mark.parametrize(
    ("before", "during", "losses"),
    [
        (work(300), work(120, seconds=120), []),
        (work(300), work(120, 60, seconds=120), ["web fails 50% of its requests, 0% before"]),
        (work(300, 150), work(120, 60, seconds=120), []),
        (work(3000), work(1200, 48, seconds=120), []),
        (work(300), work(0, seconds=120), ["web has 0 requests/s, 1 before"]),
        (work(300), None, ["web has 0 requests/s, 1 before"]),
        (work(300), work(80, seconds=120), []),
        (work(6), work(0, seconds=120), []),
        (work(6), work(2, 1, seconds=120), []),
        (work(0), work(0, seconds=120), []),
        (work(0), work(120, 60, seconds=120), []),
        (None, work(0, seconds=120), []),
    ],
    ids=[
        "as before", "errors", "errors before, too", "few of many fail", "silent", "no series left", "two thirds",
        "silent by chance", "one error of two", "never asked", "not asked before", "unknown before",
    ],
)  # fmt: skip
def test_losses_describe_failing_and_missing_work(before, during, losses):
    given = ({} if each is None else {"web": each} for each in (before, during))
    first, last = ({**each, "other": work(600, seconds=120)} for each in given)
    assert describe_losses(["web"], first, last) == losses


def test_missing_measurements_describe_no_loss():
    assert describe_losses(["web"], {"web": work(300)}, {}) == []
