"""The step that reads as a solver would: what it reaches, and what it must not."""

import re

import pytest

from scenario_kit.errors import Forbidden
from scenario_kit.model import App, Fault, Runbook, Windows
from scenario_kit.model.scenario import Expect, GroundTruth
from scenario_kit.testing import FakeCluster, FakeMetrics
from scenario_kit.trial.leaks import expect_no_leaks

FAULT = Fault(
    name="cart-delay", type="network-slow-link", version=1, target="Deployment/cart", changes=(), effect=(), entities=()
)
RUNBOOK = Runbook(
    scenario="cart-is-late", digest="d", namespace="shop", users=1, objects=(), rules=(),
    app=App(name="shop", version="1", namespace="shop", entry="web", components=()),
    windows=Windows(quiet=60, hold=60, still_firing=60, clear=60, resolve=600),
    faults=(FAULT,), expect=Expect(), ground_truth=GroundTruth(),
)  # fmt: skip
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "cart-1", "namespace": "shop"}}


class Stage:
    """What a step has of a trial, with a solver who may read the app's namespace and nothing of ours."""

    management = "kit"
    everywhere = ("shop",)
    runbook = RUNBOOK

    def __init__(self, *objects, series=(), may_read_ours=False):
        spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n}} for n in ("shop", "kit")]
        self.cluster = self.solver = FakeCluster([*spaces, POD, *objects])
        self.metrics = FakeMetrics(lambda expr, at: list(series))
        self.clock = self
        if not may_read_ours:
            self.cluster.before = self._refuse

    def contents(self, kind):
        return self.cluster.list(kind, "shop")

    def now(self):
        return 0.0

    def _refuse(self, verb, what):
        if re.match(r"kit/|scenario-kit/", what):
            raise Forbidden('User "oncall" cannot list resource')


def config(name, namespace="shop", **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data}


def test_an_innocent_namespace_holds():
    assert expect_no_leaks(Stage(config("settings", key="value"))) == []


@pytest.mark.parametrize(
    "told",
    [
        config("cart-delay"),
        config("settings", note="see cart-is-late"),
        {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "shop"},
         "reason": "NetworkSlowLink"},
    ],
    ids=["name", "data", "event"],
)  # fmt: skip
def test_an_object_or_event_that_says_it_is_found(told):
    assert [f.code for f in expect_no_leaks(Stage(told))] == ["SK441"]


def test_a_log_line_that_says_it_is_found():
    stage = Stage()
    stage.cluster.log("shop", "cart-1", "cart", 1.0, "applying cart-delay")
    (finding,) = expect_no_leaks(stage)
    assert finding.observed == "log of Pod/cart-1, container cart"


def test_a_metric_that_says_it_is_found():
    (finding,) = expect_no_leaks(Stage(series=[({"__name__": "up", "job": "cart-delay"}, 1.0)]))
    assert finding.observed == "metrics, label job"


def test_a_role_that_reaches_into_what_is_ours_is_found():
    stage = Stage(config("receipt", "kit"), may_read_ours=True)
    assert [f.message for f in expect_no_leaks(stage)] == ["the solver's role can list ConfigMap in kit"]
