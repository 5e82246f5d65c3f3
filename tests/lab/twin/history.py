"""A short history of an app, as the digests of what is exported tick by tick: run in a process of its own, too.

    python -m tests.lab.twin.history APP VERSION SEED [backwards]

``backwards`` turns the order of every mapping around, of the cluster's objects and inside them: whoever depends on it
gives other bytes.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from typing import Any

from scenario_kit.catalog import Catalog
from scenario_kit.lab.telemetry import ContainerMetrics, KubeState, format_exposition
from scenario_kit.lab.twin import View
from scenario_kit.model.runtime.process import SeriesId
from scenario_kit.render import render_app
from tests.lab.twin.twin_cluster import TICK, TwinCluster

#: A workload in the middle of each app, to which things happen.
VICTIMS = {"otel-demo": "product-catalog", "hotel-reservation": "rate"}


def turned(value: Any) -> Any:
    """The same value with every mapping in the opposite order."""
    if isinstance(value, dict):
        return {key: turned(value[key]) for key in reversed(list(value))}
    return [turned(item) for item in value] if isinstance(value, list) else value


class Backwards(TwinCluster):
    """Shows its objects in the opposite order."""

    def view(self) -> View:
        """The namespace as the twin may see it."""
        view = super().view()
        return View(view.namespace, turned(dict(view.objects)), view.ledger, view.version)


def digests(name: str, version: str, seed: int, *, backwards: bool = False) -> Iterator[str]:
    """What all exporters say at each tick: the twin, of objects and of containers, while this and that happens."""
    app = Catalog().app(name, version)
    cluster = (Backwards if backwards else TwinCluster)(app, render_app(app, {}, 50, "shop"), seed=seed)
    state, containers = KubeState(), ContainerMetrics()
    workload = VICTIMS[name]
    for change in (
        lambda: None,
        lambda: cluster.scale(workload, 0),
        lambda: cluster.scale(workload, 2),
        lambda: cluster.chaos(workload, delay=0.2, jitter=0.1, loss=5.0),
    ):
        change()
        for _ in range(2):
            cluster.run(TICK)
            yield hashlib.sha256(format_exposition(exported(cluster, state, containers)).encode()).hexdigest()


def exported(cluster: TwinCluster, state: KubeState, containers: ContainerMetrics) -> dict[SeriesId, float]:
    """All series of the last tick."""
    assert cluster.last is not None
    objects = cluster.view().objects
    pods = sorted(objects["Pod"].values(), key=lambda pod: str(pod["metadata"]["name"]))
    samples = dict(cluster.samples) | state.collect(objects)
    return samples | containers.advance(pods, cluster.last.usage, TICK)


if __name__ == "__main__":
    name, version, seed, *rest = sys.argv[1:]
    print("\n".join(digests(name, version, int(seed), backwards="backwards" in rest)))
