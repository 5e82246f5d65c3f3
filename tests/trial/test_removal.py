"""Removal of the contents of an app's namespaces, by the responsible controllers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scenario_kit.changes import ChangeContext, ClusterStore, Engine
from scenario_kit.model import App, Reference, Runbook, TrialSpec, Windows
from scenario_kit.model.authored.scenario import Expect, GroundTruth
from scenario_kit.testing import FakeClock, FakeCluster, FakeMetrics
from scenario_kit.trial.deploy import remove
from scenario_kit.trial.engine.context import TrialContext

APP = App(name="shop", version="1", namespace="shop", entry="web", components=())
WINDOWS = Windows(quiet=60, hold=60, still_firing=60, clear=60, resolve=600)


def thing(kind: str, name: str, version: str = "v1", **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "shop", **metadata}}


class Controller(FakeCluster):
    """Brings the Endpoints of a Service back as long as there is one, and takes them away with it."""

    def __init__(self, objects: list[dict[str, Any]]) -> None:
        super().__init__(objects)
        self.deletions: list[str] = []

    def delete(self, ref: Reference, *, uid: str = "", grace_seconds: int | None = None) -> None:
        self.deletions.append(f"{ref.kind}/{ref.name}")
        super().delete(ref, uid=uid, grace_seconds=grace_seconds)
        if ref.kind == "Endpoints" and self.get(Reference("Service", ref.name, "shop")):
            self.create(thing("Endpoints", ref.name))
        if ref.kind == "Service":
            super().delete(Reference("Endpoints", ref.name, "shop"))


def remove_objects(*objects: dict[str, Any]) -> list[str]:
    """List the objects deleted explicitly before the namespace is gone."""
    homes = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("shop", "kit")]
    cluster, clock = Controller([*homes, *objects]), FakeClock(0.0)
    remove(build_context(cluster, clock), 300.0)
    assert cluster.get(Reference("Namespace", "shop")) is None
    return cluster.deletions


def build_context(
    cluster: FakeCluster, clock: FakeClock, idle: Callable[[float], None] = lambda _: None
) -> TrialContext:
    runbook = Runbook(
        scenario="s", digest="d", app=APP, namespace="shop", users=5, objects=(), rules=(), windows=WINDOWS,
        faults=(), expect=Expect(), ground_truth=GroundTruth(),
    )  # fmt: skip
    context = ChangeContext(cluster=cluster, namespace="shop", app=APP, now=clock.now)
    return TrialContext(
        name="t", spec=TrialSpec(scenario="s", digest="d", seed=1, namespace="shop", steps=(), resolved=""),
        runbook=runbook, cluster=cluster, solver=cluster, metrics=FakeMetrics(lambda *_: []), clock=clock,
        engine=Engine(context, clock, ClusterStore(cluster, "kit", "t"), "t"), evaluator=None, management="kit",
        health=list, stopping=lambda: False, idle=idle, tell=lambda *_: None,
    )  # type: ignore[arg-type]  # fmt: skip


def test_endpoints_are_removed_with_their_service() -> None:
    assert remove_objects(thing("Service", "web"), thing("Endpoints", "web")) == ["Service/web", "Namespace/shop"]


def test_endpoints_without_a_service_are_removed() -> None:
    deleted = remove_objects(thing("Endpoints", "outside"), thing("Service", "web"), thing("Endpoints", "web"))
    assert sorted(deleted) == ["Endpoints/outside", "Namespace/shop", "Service/web"]


class SlowController(Controller):
    """Removes deleted objects of a kind only at the third look at them."""

    def __init__(self, objects: list[dict[str, Any]], kind: str) -> None:
        super().__init__(objects)
        self.kind, self.looks = kind, 0

    def delete(self, ref: Reference, *, uid: str = "", grace_seconds: int | None = None) -> None:
        if ref.kind != self.kind:
            super().delete(ref, uid=uid, grace_seconds=grace_seconds)

    def look(self) -> None:
        self.looks += 1
        if self.looks == 3:
            for obj in self.list(self.kind, "shop"):
                super().delete(Reference(self.kind, obj["metadata"]["name"], "shop"))


def test_pace_of_controllers_costs_no_time_of_the_trial() -> None:
    homes = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("shop", "kit")]
    cluster, clock = SlowController([*homes, thing("ConfigMap", "web")], "ConfigMap"), FakeClock(0.0)
    remove(build_context(cluster, clock, idle=lambda _: cluster.look()), 300.0)
    assert clock.now() == 0.0


def test_stopping_pods_get_time_of_the_trial() -> None:
    homes = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("shop", "kit")]
    stopping = thing("Pod", "web", deletionTimestamp="2026-01-01T00:00:30Z", deletionGracePeriodSeconds=30)
    stopping["spec"] = {"nodeName": "worker-1"}
    cluster = Controller([*homes, stopping])
    pod = Reference("Pod", "web", "shop")
    clock = FakeClock(0.0, on_advance=lambda now: cluster.delete(pod, grace_seconds=0) if now >= 30 else None)
    remove(build_context(cluster, clock), 300.0)
    assert clock.now() == 30.0
