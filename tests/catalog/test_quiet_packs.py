"""Every alert pack is quiet while nothing is broken: each app, version, load profile and option, in the twin.

Rules over what controllers and the kubelet say of objects need a cluster; here the objects stand still, so those have
no series. Options that are meant to be too tight (`Tight`, `Chart`) are left out: they say so themselves.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.clients import PrometheusMetrics
from scenario_kit.lab.telemetry import SeriesWriter
from scenario_kit.observe import AlertEvaluator, AlertScope
from scenario_kit.render import render_app, resolve_options
from tests.lab.twin.twin_cluster import TwinCluster

CATALOG = Catalog()
EVERYTHING = os.environ.get("SCENARIO_KIT_PACKS") == "all"
#: What an app is let run before it is judged, and for how long then: rules look back for ten minutes at most.
_FIRST_TO_FAIL = {"otel-demo": ("product-catalog", "cart", "shipping", "checkout")}
WARM, JUDGED = 900, 1200
TICK = 15


class Healthy(NamedTuple):
    app: str
    version: str
    profile: str
    users: int
    options: dict[str, Any]

    @property
    def title(self) -> str:
        reported = "-".join(f"{k}={v}" for k, v in self.options.items())
        return f"{self.app}-{self.version}-{self.profile}-{self.users}" + (f"-{reported}" if reported else "")


def healthy() -> Iterator[Healthy]:
    for name in CATALOG.apps():
        for version in CATALOG.versions(name):
            app = CATALOG.app(name, version)
            if app.twin is None:
                continue
            for profile in app.loads:
                yield Healthy(name, version, profile, 50, {})
            for users in (10, 100):
                yield Healthy(name, version, "steady", users, {})
            for options in ({"replicas": 3}, {"separateStores": True}, {"resources": "None"}, {"autoscaling": True}):
                yield Healthy(name, version, "steady", 50, options)


@pytest.mark.lab
@pytest.mark.timeout(600)
@pytest.mark.parametrize("run", [pytest.param(run, id=run.title) for run in healthy()])
def test_healthy_app_fires_no_alert(prometheus: str, run: Healthy) -> None:
    newest = run.version == CATALOG.versions(run.app)[-1]
    if not (EVERYTHING or (newest and run.users == 50 and (run.options in ({}, {"autoscaling": True})))):
        pytest.skip("half a minute each: SCENARIO_KIT_PACKS=all runs every version, load and option")
    app = CATALOG.app(run.app, run.version)
    namespace = f"q{abs(hash(run.title)) % 10**8}"
    objects = render_app(app, resolve_options(app, run.options, run.profile), run.users, namespace)
    cluster = TwinCluster(app, objects, namespace=namespace)
    for workload in _FIRST_TO_FAIL.get(run.app, ()):  # as the kubelet would: what they need was not up yet
        cluster.now += 30.0
        cluster.restart(workload)
    for _ in range(20):
        cluster.run(TICK)
        cluster.revive()
    epoch = int(time.time()) // TICK * TICK - 5 * 86400
    writer, batch, at = SeriesWriter(prometheus), [], epoch
    for _ in range((WARM + JUDGED) // TICK):
        cluster.run(TICK)
        at += TICK
        batch.append((at, dict(cluster.samples)))
    writer.write(batch)
    writer.close()
    metrics = PrometheusMetrics(prometheus)
    fired = {}
    for pack in app.alert_packs:
        rules = CATALOG.alert_pack(pack)
        evaluator = AlertEvaluator(metrics, rules, AlertScope(app, namespace), lambda _: None, start=epoch + WARM)
        history = evaluator.advance(at)
        fired |= {(pack, t.name, str(t.labels)): t.firing for t in history.timelines if t.firing}
    assert fired == {}
