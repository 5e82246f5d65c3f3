"""Progress deadlines of Deployments on a trial's clock.

The real controller compares ``Progressing.lastUpdateTime`` with the wall clock. Once the deadline has passed on the
trial's clock, that time is moved back, and the controller itself concludes ``ProgressDeadlineExceeded``.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import UTC, datetime

from scenario_kit.lab.settle.settled.rollouts import COMPLETE
from scenario_kit.lab.settle.settled.settle_context import find_condition
from scenario_kit.model import Object, Reference
from scenario_kit.ports import Cluster

_DEFAULT_SECONDS = 600
_PROGRESS = ("observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
#: How far beyond the deadline the time is moved: clocks and the API's whole seconds must not matter.
_MARGIN_SECONDS = 60


class ProgressDeadlines:
    """Remembers since when each Deployment of one namespace has made no progress."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[object, float]] = {}

    def overdue(self, deployments: Iterable[Object], now: float) -> list[Object]:
        """Return the Deployments whose rollout has stood still for longer than their deadline; call at every tick."""
        found = []
        alive = set()
        for deployment in deployments:
            uid = deployment["metadata"]["uid"]
            alive.add(uid)
            progressing = find_condition(deployment, "Progressing")
            if progressing is None or progressing["status"] != "True" or progressing["reason"] == COMPLETE:
                self._since.pop(uid, None)
                continue
            status = deployment.get("status") or {}
            shape = (progressing["reason"], *(status.get(field, 0) for field in _PROGRESS))
            before, since = self._since.get(uid, (None, now))
            if before != shape:
                since = now
            self._since[uid] = (shape, since)
            if now - since > deployment["spec"].get("progressDeadlineSeconds", _DEFAULT_SECONDS):
                found.append(deployment)
        self._since = {uid: entry for uid, entry in self._since.items() if uid in alive}
        return found


def move_back(cluster: Cluster, deployment: Object) -> None:
    """Let the controller find that the deadline has passed."""
    seconds = deployment["spec"].get("progressDeadlineSeconds", _DEFAULT_SECONDS) + _MARGIN_SECONDS
    earlier = datetime.fromtimestamp(time.time() - seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    meta = deployment["metadata"]
    cluster.patch(
        Reference("Deployment", meta["name"], meta["namespace"], "apps"),
        {"status": {"conditions": [{"type": "Progressing", "lastUpdateTime": earlier}]}},
        "Strategic",
        subresource="status",
    )
