"""Progress deadlines of Deployments on a trial's clock.

The deployment controller compares ``Progressing.lastUpdateTime`` with the wall clock. Once the deadline has passed on
the trial's clock, ``lastUpdateTime`` is moved back, and the controller sets ``ProgressDeadlineExceeded`` itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from scenario_kit.lab.settle.checks.rollouts import COMPLETE
from scenario_kit.lab.settle.checks.settle_context import find_condition
from scenario_kit.model import Object, Reference
from scenario_kit.model.kubernetes.timestamp import format_timestamp
from scenario_kit.ports import Cluster

_DEFAULT_SECONDS = 600
_PROGRESS = ("observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
#: Extra seconds by which the time is moved, to cover clock skew and the API's whole seconds.
_MARGIN_SECONDS = 60


class ProgressDeadlines:
    """Track since when each Deployment of one world has made no progress."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[object, float]] = {}

    def list_overdue(self, deployments: Iterable[Object], now: float) -> list[Object]:
        """List the Deployments whose rollout has stalled for longer than their deadline; call at every tick."""
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


def backdate_progress(cluster: Cluster, deployment: Object) -> None:
    """Move ``lastUpdateTime`` back so that the controller finds the progress deadline exceeded."""
    seconds = deployment["spec"].get("progressDeadlineSeconds", _DEFAULT_SECONDS) + _MARGIN_SECONDS
    earlier = format_timestamp(time.time() - seconds)
    meta = deployment["metadata"]
    cluster.patch(
        Reference("Deployment", meta["name"], meta["namespace"], "apps"),
        {"status": {"conditions": [{"type": "Progressing", "lastUpdateTime": earlier}]}},
        "Strategic",
        subresource="status",
    )
