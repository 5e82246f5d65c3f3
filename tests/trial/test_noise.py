"""Noise on the fake cluster: on schedule, resumed after any crash, and undone at the end."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from scenario_kit.changes import ChangeContext, ClusterStore, Engine
from scenario_kit.errors import Unreachable
from scenario_kit.judge.repair import invariants
from scenario_kit.model import App, Change, Fault, Reference, Runbook, TrialSpec, Windows
from scenario_kit.model.authored.noise import Noise, NoiseSource
from scenario_kit.model.authored.scenario import Expect, GroundTruth
from scenario_kit.render.scenarios.noise import build_sources, list_events
from scenario_kit.testing import FakeClock, FakeCluster, FakeMetrics
from scenario_kit.trial.deploy import tear_down
from scenario_kit.trial.engine import noise
from scenario_kit.trial.engine.baseline import Baseline
from scenario_kit.trial.engine.context import TrialContext

START = 1000.0
APP = App.from_json(
    {"name": "shop", "version": "1", "namespace": "shop", "entry": "web", "load": {"users": {"env": "USERS"}},
     "components": [{"name": "web", "workload": "Deployment/web"},
                    {"name": "load", "workload": "Deployment/load", "role": "Load"}]}
)  # fmt: skip
WINDOWS = Windows(quiet=60, hold=60, still_firing=60, clear=60, resolve=600)


def deployment(name: str, **env: str) -> dict[str, Any]:
    variables = [{"name": k, "value": v} for k, v in env.items()]
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "c", "image": "i", "env": variables}]},
            },
        },
    }


OBJECTS = (deployment("web"), deployment("load", USERS="50"))


def build_noise(**fields: Any) -> NoiseSource:
    document = {"name": next(iter(fields)), "everySeconds": 600, **fields}
    return build_sources([Noise.from_json(document)], APP, OBJECTS, "shop", 50)[0]


SCALE = build_noise(scale={"target": "Deployment/web", "addReplicas": 2, "forSeconds": 180})
RESTART = build_noise(restart={"target": "Deployment/web"})
LOAD = build_noise(load={"percent": 40, "forSeconds": 240})


class TrialHarness:
    """A trial that waits with noise; ``context`` is made afresh, as by an operator that was started again."""

    def __init__(self, *played: NoiseSource, app: App = APP, objects: tuple[Any, ...] = OBJECTS) -> None:
        self.cluster = FakeCluster(objects)
        self.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kit"}})
        self.clock = FakeClock(START)
        self.runbook = Runbook(
            scenario="s", digest="d", app=app, namespace="shop", users=50, objects=objects, rules=(), windows=WINDOWS,
            faults=(), expect=Expect(), ground_truth=GroundTruth(), noise=played,
        )  # fmt: skip
        self.guarded = invariants.take_baseline(objects, app)
        self.context().save_baseline(Baseline(guards=self.guarded, ready_at=START))

    def context(self) -> TrialContext:
        spec = TrialSpec(scenario="s", digest="d", seed=4, namespace="shop", steps=(), resolved="")
        context = ChangeContext(cluster=self.cluster, namespace="shop", app=self.runbook.app, now=self.clock.now)
        return TrialContext(
            name="t", spec=spec, runbook=self.runbook, cluster=self.cluster, solver=self.cluster,
            metrics=FakeMetrics(lambda *_: []),
            clock=self.clock, engine=Engine(context, self.clock, ClusterStore(self.cluster, "kit", "t"), "t"),
            evaluator=None, management="kit", health=list, stopping=lambda: False, idle=lambda _: None,
            tell=lambda *_: None,
        )  # type: ignore[arg-type]  # fmt: skip

    def get(self, name: str) -> dict[str, Any]:
        found = self.cluster.get(Reference("Deployment", name, "shop"))
        assert found is not None
        return found

    def replicas(self) -> int:
        count: int = self.get("web")["spec"]["replicas"]
        return count

    def users(self) -> int:
        return int(self.get("load")["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"])

    def restarted(self) -> str:
        metadata = self.get("web")["spec"]["template"]["metadata"]
        text: str = (metadata.get("annotations") or {}).get("kubectl.kubernetes.io/restartedAt", "")
        return text


def test_noise_occurrences_start_and_end_on_time() -> None:
    stage = TrialHarness(SCALE)
    context = stage.context()
    for event in list_events([SCALE], 4, START, START + 6000):
        assert event.until is not None
        assert event.change.operation.keyword == "scale"
        context.wait(event.at)
        assert stage.replicas() == 1
        context.wait(event.at + 15)
        assert stage.replicas() == event.change.operation.replicas
        context.wait(event.until + 15)
        assert stage.replicas() == 1


def test_long_wait_plays_every_event() -> None:
    stage = TrialHarness(SCALE, RESTART)
    stage.context().wait(START + 6000)

    done = stage.context().engine.list_receipts(noise.GROUP)
    assert sorted((r.group, r.at) for r in done) == sorted(
        (f"Noise/{e.source}", e.at) for e in list_events([SCALE, RESTART], 4, START, START + 6000)
    )
    assert not any(r.causal for r in done)
    assert stage.restarted().startswith("1970-01-01T0")


def test_no_event_starts_before_app_is_ready() -> None:
    stage = TrialHarness(SCALE, RESTART)
    context = stage.context()
    context.save_baseline(Baseline())
    context.wait(START + 6000)

    assert (stage.replicas(), stage.restarted()) == (1, "")


def test_missed_events_are_skipped() -> None:
    stage = TrialHarness(SCALE)
    third = list_events([SCALE], 4, START, START + 6000)[2]
    assert third.until is not None
    stage.clock.wait(third.until)  # nobody ran all the while
    stage.context().wait(third.until)

    assert stage.replicas() == 1
    assert stage.context().engine.list_receipts(noise.GROUP) == []


def test_run_killed_at_any_request_resumes() -> None:
    def history(die_at: int | None) -> list[tuple[float, str]]:
        stage, count = TrialHarness(SCALE, RESTART, LOAD), 0

        def dying(verb: str, what: str) -> None:
            nonlocal count
            count += 1
            if count == die_at:
                raise Unreachable("killed")

        stage.cluster.before = dying
        for _ in range(2):
            try:
                stage.context().wait(START + 2000)
                break
            except Unreachable:
                continue
        stage.cluster.before = lambda verb, what: None
        seen = [(r.at, f"{r.ordinal} {r.state}") for r in stage.context().engine.list_receipts(noise.GROUP)]
        return [*seen, (float(stage.replicas()), stage.restarted()), (float(stage.users()), str(count > 0))]

    straight = history(None)
    for die_at in range(2, 80, 7):
        assert history(die_at) == straight, die_at


def test_teardown_undoes_events_and_stops_noise() -> None:
    stage = TrialHarness(SCALE, LOAD)
    first = list_events([SCALE, LOAD], 4, START, START + 6000)[0]
    context = stage.context()
    context.wait(first.at + 15)
    assert (stage.replicas(), stage.users()) != (1, 50)
    stage.cluster.requests.clear()
    tear_down(context)

    assert {r.state for r in context.engine.list_receipts(noise.GROUP)} == {"Undone"}
    context.wait(START + 6000)
    assert len(context.engine.list_receipts(noise.GROUP)) == 1


def test_swing_of_the_load_is_no_broken_guard() -> None:
    stage = TrialHarness(LOAD)
    context = stage.context()
    event = list_events([LOAD], 4, START, START + 6000)[0]
    context.wait(event.at + 15)
    live = [stage.get(n) for n in ("web", "load")]
    for obj in live:
        obj["status"] = {"readyReplicas": 1}

    assert "load setting USERS" in str(invariants.find_violations(stage.guarded, live, APP))
    assert invariants.find_violations(noise.adjust_guards(context, stage.guarded), live, APP) == []
    live[1]["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"] = "1"
    assert "load setting USERS is 1" in str(
        invariants.find_violations(noise.adjust_guards(context, stage.guarded), live, APP)
    )


@pytest.mark.parametrize(("outcome", "broken"), [("Incident", True), ("Benign", False)])
def test_load_change_of_benign_fault_need_not_end(outcome: str, broken: bool) -> None:
    stage = TrialHarness()
    more = {"containers": [{"name": "c", "env": [{"name": "USERS", "value": "80"}]}]}
    patch = {"target": "Deployment/load", "type": "Strategic", "patch": {"spec": {"template": {"spec": more}}}}
    surge = Fault(
        name="f", type="t", version=1, target=Reference("Deployment", "load"), effect=(), entities=(),
        changes=(Change.from_json({"patch": patch}),),
    )  # fmt: skip
    stage.runbook = msgspec.structs.replace(
        stage.runbook, faults=(surge,), ground_truth=GroundTruth.from_json({"outcome": outcome})
    )
    context = stage.context()
    context.engine.do(surge.changes[0], ordinal=1, group="Fault/f")
    live = [stage.get(n) | {"status": {"readyReplicas": 1}} for n in ("web", "load")]

    assert bool(invariants.find_violations(noise.adjust_guards(context, stage.guarded), live, APP)) is broken


FLAGGED = App.from_json(
    {**APP.to_json(), "load": {"users": {"env": "USERS", "flag": "users"}},
     "flags": {"configMap": "flags", "key": "f.json", "restart": ["Deployment/web"],
               "effects": {"users": {"component": "load", "effect": "Surge"},
                           "traffic": {"component": "load", "effect": "NoTraffic"}}}}
)  # fmt: skip


def render_flags(**flags: tuple[str, dict[str, int]]) -> dict[str, Any]:
    known = {n: {"state": "ENABLED", "variants": v, "defaultVariant": d} for n, (d, v) in flags.items()}
    metadata = {"name": "flags", "namespace": "shop"}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {"f.json": json.dumps({"flags": known})},
    }


def test_load_swing_may_only_set_the_user_flag() -> None:
    flags = render_flags(users=("50", {"50": 50}), traffic=("on", {"on": 1, "off": 0}))
    objects = (*OBJECTS, flags)
    load = Noise.from_json({"name": "n", "everySeconds": 600, "load": {"percent": 40, "forSeconds": 240}})
    (source,) = build_sources([load], FLAGGED, objects, "shop", 50)
    stage = TrialHarness(source, app=FLAGGED, objects=objects)
    context = stage.context()
    first, second = list_events([source], 4, START, START + 6000)[:2]

    def there() -> list[dict[str, Any]]:
        found = stage.cluster.get(Reference("ConfigMap", "flags", "shop"))
        assert found is not None
        return [found, *({**stage.get(n), "status": {"readyReplicas": 1}} for n in ("web", "load"))]

    def broken() -> str:
        return str(invariants.find_violations(noise.adjust_guards(context, stage.guarded), there(), FLAGGED))

    context.wait(first.at + 15)
    assert json.loads(there()[0]["data"]["f.json"])["flags"]["users"]["defaultVariant"] == str(first.users)
    assert broken() == "[]"
    context.wait((first.until or 0) + 15)
    assert json.loads(there()[0]["data"]["f.json"]) == json.loads(flags["data"]["f.json"])
    # Somebody ends the traffic; the next swing finds it so, and does not make that its own.
    switched = render_flags(users=("50", {"50": 50}), traffic=("off", {"on": 1, "off": 0}))
    stage.cluster.patch(Reference("ConfigMap", "flags", "shop"), {"data": switched["data"]})
    context.wait(second.at + 15)
    assert "load setting traffic is 0, its baseline is 1" in broken()
    assert "users" not in broken()


def test_offered_load_includes_load_swings() -> None:
    stage = TrialHarness(LOAD)
    context = stage.context()
    event = list_events([LOAD], 4, START, START + 6000)[0]
    assert event.until is not None
    context.wait(event.until + 300)

    assert noise.measure_offered(context, START, event.at) == 1.0
    assert noise.measure_offered(context, event.at, event.until) == pytest.approx(event.users / 50)
    assert noise.measure_offered(context, event.at - 240, event.until) == pytest.approx(1 + (event.users / 50 - 1) / 2)
    assert noise.measure_offered(context, event.until, event.until + 60) == 1.0


def test_event_for_deleted_object_is_skipped(caplog: pytest.LogCaptureFixture) -> None:
    stage = TrialHarness(SCALE)
    stage.cluster.delete(Reference("Deployment", "web", "shop"))
    context = stage.context()
    context.wait(START + 1300)
    context.wait(START + 1315)

    assert len([r for r in caplog.records if "is skipped" in r.message]) == 1


def test_trial_without_noise_sends_no_requests() -> None:
    stage = TrialHarness()
    context = stage.context()
    stage.cluster.requests.clear()
    assert noise.play(context) == noise.NEVER
    assert stage.cluster.requests == []
