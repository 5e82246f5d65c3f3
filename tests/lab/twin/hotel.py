"""The hotel under simulation: started as a trial starts it, and kept alive as by a kubelet."""

from collections.abc import Iterable
from typing import Any

from scenario_kit.model import App
from tests.lab.twin.twin_cluster import TICK, Span, TwinCluster


def started(app: App, objects: Iterable[dict[str, Any]], warm: float, **options: Any) -> TwinCluster:
    """Start search again, which was quicker than the registry; then wait ``warm`` seconds."""
    little = TwinCluster(app, objects, **options)
    little.run(TICK)
    little.revive()
    little.run(warm)
    return little


def live(hotel: TwinCluster, seconds: float) -> Span:
    """Let time pass with a kubelet that starts again what ends."""
    before = hotel.samples
    for _ in range(round(seconds / TICK)):
        hotel.run(TICK)
        hotel.revive()
    return Span(before, hotel.samples, seconds)
